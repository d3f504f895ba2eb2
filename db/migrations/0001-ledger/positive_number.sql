-- Numbers from 1 on.
CREATE DOMAIN coinledger.positive_number AS bigint
CONSTRAINT number_is_positive CHECK (VALUE > 0);
