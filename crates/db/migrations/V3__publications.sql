-- Published results. published, embargo: times; embargo is the smallest number where there is none. head_sequence, head_hash: where
-- the change log stood. The document has the result bundle as a text.
CREATE TABLE publications (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    score_set ordered_text NOT NULL,
    published BIGINT NOT NULL,
    embargo BIGINT NOT NULL,
    feedback BIGINT NOT NULL,
    head_sequence BIGINT NOT NULL,
    head_hash ordered_text NOT NULL,
    deleted BIGINT NOT NULL,
    list_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE INDEX publications_of_lists ON publications
    (account, list_revision, slug, score_set, published, embargo, feedback, head_sequence, head_hash, deleted);
