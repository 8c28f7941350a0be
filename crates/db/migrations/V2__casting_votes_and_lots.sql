-- The orders in which the chair puts entries of a score set that are tied. A score set has at most one that is not in the trash.
CREATE TABLE casting_votes (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    score_set ordered_text NOT NULL,
    updated BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    list_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE INDEX casting_votes_of_score_set ON casting_votes (account, score_set, deleted, slug);

-- The orders in which the entries of a score set were drawn. A score set has at most one that is not in the trash.
CREATE TABLE lots (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    score_set ordered_text NOT NULL,
    updated BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    list_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE INDEX lots_of_score_set ON lots (account, score_set, deleted, slug);
