-- Which account an app account token stands for: one account a token, for ever.
CREATE TABLE coinledger.app_account_tokens (
    token text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    CONSTRAINT app_account_tokens_have_one_account PRIMARY KEY (token)
);
