-- importing: the time of the last step of the import that makes the account, which nobody else sees until it is whole; 0 where
-- it is.
ALTER TABLE accounts ADD COLUMN importing BIGINT NOT NULL DEFAULT 0;
