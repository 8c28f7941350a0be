-- All set-up records of an account in one compressed text, for large set-ups. sequence, hash: a change of the account;
-- every record that was last changed by it or by an earlier one is in the text as it stands. Nothing is lost with a row.
CREATE TABLE setup_checkpoints (
    account BIGINT NOT NULL PRIMARY KEY,
    sequence BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    packed BYTEA NOT NULL
);
