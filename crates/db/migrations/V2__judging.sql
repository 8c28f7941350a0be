-- Plans, decisions and results of judging.

-- Plans of assignments. until: when it is forgotten. asked: the request, as JSON. state: the hash of what was read. doc: the answer.
-- undo: what undoes it, once it is applied. made: the slugs of what it linked, as JSON.
CREATE TABLE assignment_plans (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    until BIGINT NOT NULL,
    asked ordered_text NOT NULL,
    state ordered_text NOT NULL,
    doc ordered_text NOT NULL,
    undo ordered_text NOT NULL,
    made ordered_text NOT NULL,
    undone BIGINT NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE INDEX assignment_plans_by_undo ON assignment_plans (account, undo);

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
