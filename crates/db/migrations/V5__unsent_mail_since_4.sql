-- Messages that were not sent to everybody, which are counted every minute.
CREATE INDEX jobs_unsent ON jobs (account) WHERE kind = 'mail' AND errors <> '[]';
