-- Numbers from 0 on. A domain's rule is read once a session; that of a table is read anew by each
-- statement, which costs a batch of one dearly.
CREATE DOMAIN coinledger.natural_number AS bigint
CONSTRAINT number_is_not_negative CHECK (VALUE >= 0);
