-- BIGINT holds integers, flags (0 or 1) and times (microseconds since 1970-01-01 UTC); ordered_text is text that is
-- compared byte by byte on both engines (on PostgreSQL a domain over TEXT COLLATE "C"). doc_form: the version of the form of the
-- document.

-- version: the name of the change that the account's program was changed by last, which is part of that change's hash.
CREATE TABLE accounts (
    id BIGINT NOT NULL PRIMARY KEY,
    slug ordered_text NOT NULL UNIQUE,
    version BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL
);

CREATE TABLE hosts (
    name ordered_text NOT NULL PRIMARY KEY,
    account BIGINT NOT NULL
);
CREATE INDEX hosts_of_account ON hosts (account, name);

CREATE TABLE api_keys (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    hash BYTEA NOT NULL UNIQUE,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);

CREATE TABLE setup_records (
    account BIGINT NOT NULL,
    kind ordered_text NOT NULL,
    slug ordered_text NOT NULL,
    deleted BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, kind, slug)
);
CREATE INDEX setup_records_by_revision ON setup_records (account, revision);

-- doc: null where it was erased. doc_hash: its SHA-256, over which hash is.
CREATE TABLE changes (
    account BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    at BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    actor ordered_text NOT NULL,
    source ordered_text NOT NULL,
    kind ordered_text NOT NULL,
    slug ordered_text NOT NULL,
    action ordered_text NOT NULL,
    events ordered_text NOT NULL,
    doc ordered_text,
    doc_hash BYTEA NOT NULL,
    hash BYTEA NOT NULL,
    PRIMARY KEY (account, sequence)
);
CREATE INDEX changes_of_record ON changes (account, kind, slug, sequence);

-- A person of the installation, whatever accounts the person is a user of. password: a PHC string, or empty for none.
CREATE TABLE people (
    global_id ordered_text NOT NULL PRIMARY KEY,
    password ordered_text NOT NULL
);

-- What reaches a person, and nobody else in the installation: an e-mail address in lower case, or a mobile number.
CREATE TABLE contacts (
    contact ordered_text NOT NULL PRIMARY KEY,
    person ordered_text NOT NULL
);
CREATE INDEX contacts_of_person ON contacts (person, contact);

-- A person in an account. names: the members by which other records show the user. email, mobile, season_joined: empty for none. first_name, last_name, name: sort keys.
-- confirmed_at: the least number for none. updated: the time of the last change. list_revision: the number of the change by
-- which a column of the index of lists, a role or a season last became another one.
CREATE TABLE users (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    person ordered_text NOT NULL,
    names ordered_text NOT NULL,
    deleted BIGINT NOT NULL,
    confirmed BIGINT NOT NULL,
    language ordered_text NOT NULL,
    season_joined ordered_text NOT NULL,
    email ordered_text NOT NULL,
    mobile ordered_text NOT NULL,
    first_name ordered_text NOT NULL,
    last_name ordered_text NOT NULL,
    name ordered_text NOT NULL,
    created_by ordered_text NOT NULL,
    confirmed_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    list_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    detail ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE UNIQUE INDEX users_of_person ON users (person, account);
CREATE INDEX users_by_email ON users (account, email, slug, deleted);
CREATE INDEX users_of_lists ON users (account, list_revision, slug, deleted, confirmed, language, season_joined, email,
    mobile, first_name, last_name, name, created_by, confirmed_at, created_at, updated);

-- The roles of users.
CREATE TABLE user_roles (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    role ordered_text NOT NULL,
    PRIMARY KEY (account, slug, role)
);

-- The seasons in which users have entries that are not in the trash.
CREATE TABLE user_seasons (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    season ordered_text NOT NULL,
    PRIMARY KEY (account, slug, season)
);

-- Links by which a user confirms or signs in, each once. hash: of the token in the link. holder: the user.
CREATE TABLE one_time_links (
    account BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    purpose ordered_text NOT NULL,
    holder ordered_text NOT NULL,
    expires BIGINT NOT NULL,
    PRIMARY KEY (account, hash)
);
CREATE INDEX one_time_links_by_end ON one_time_links (account, expires);

-- division: 0 for none. title_key: the title after case folding, by which lists sort and search. review_key: the review status, or of a long one its beginning and its hash.
CREATE TABLE entries (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    local_id BIGINT NOT NULL,
    season ordered_text NOT NULL,
    category ordered_text NOT NULL,
    division BIGINT NOT NULL,
    chapter ordered_text NOT NULL,
    form ordered_text NOT NULL,
    entrant ordered_text NOT NULL,
    status ordered_text NOT NULL,
    moderation ordered_text NOT NULL,
    payment ordered_text NOT NULL,
    review_key ordered_text NOT NULL,
    title ordered_text NOT NULL,
    title_key ordered_text NOT NULL,
    updated BIGINT NOT NULL,
    archived BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    list_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    detail ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE UNIQUE INDEX entries_by_local_id ON entries (account, local_id);
CREATE INDEX entries_of_entrant ON entries (account, entrant, slug, season, category, deleted);
CREATE INDEX entries_of_lists ON entries (account, list_revision, slug, local_id, season, category, chapter, form, entrant,
    status, moderation, payment, review_key, title_key, updated, archived, deleted);

-- The tags of entries, those in the trash included.
CREATE TABLE entry_tags (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    tag ordered_text NOT NULL,
    PRIMARY KEY (account, slug, tag)
);

-- How many entries each division of a category has, those in the trash left out; 0 is no division. Kept by the transaction
-- that changes an entry, because a new one goes where the fewest are.
CREATE TABLE entry_counts (
    account BIGINT NOT NULL,
    category ordered_text NOT NULL,
    division BIGINT NOT NULL,
    total BIGINT NOT NULL,
    PRIMARY KEY (account, category, division)
);

CREATE TABLE contributors (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    entry ordered_text NOT NULL,
    tab ordered_text NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    list_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE INDEX contributors_of_entry ON contributors (account, entry, slug, deleted);
CREATE INDEX contributors_of_lists
    ON contributors (account, list_revision, slug, entry, tab, created, updated, deleted);

-- The answers of contributors as the list sorts by them.
CREATE TABLE contributor_answers (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    field ordered_text NOT NULL,
    sort_key ordered_text NOT NULL,
    PRIMARY KEY (account, slug, field)
);
CREATE INDEX contributor_answers_sorted ON contributor_answers (account, field, sort_key, slug);

CREATE TABLE files (
    account BIGINT NOT NULL,
    token ordered_text NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, token)
);

-- Uploads that have begun to store bytes and are not recorded yet. begun: when. doomed: whether what they stored is being
-- removed, so that they can be recorded no more.
CREATE TABLE uploads (
    account BIGINT NOT NULL,
    token ordered_text NOT NULL,
    begun BIGINT NOT NULL,
    doomed BIGINT NOT NULL,
    PRIMARY KEY (account, token)
);
CREATE INDEX uploads_by_age ON uploads (begun);

CREATE TABLE attachments (
    account BIGINT NOT NULL,
    token ordered_text NOT NULL,
    entry ordered_text NOT NULL,
    tab ordered_text NOT NULL,
    place BIGINT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    list_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, token)
);
CREATE INDEX attachments_of_entry ON attachments (account, entry, place, token, deleted);
CREATE INDEX attachments_of_lists
    ON attachments (account, list_revision, token, entry, tab, place, created, updated, deleted);

-- total: in ten-thousandths. invoice_number: its sort key, by which numbers are ordered by their value. discount: the code in
-- lower case, empty for none. live: whether it pays for its entries, or will once it is paid. chapters: those of the
-- entries that its lines name, with blanks between them. list_revision: the
-- number of the change by which a column of the index of lists last became another one.
CREATE TABLE orders (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    season ordered_text NOT NULL,
    payment_status ordered_text NOT NULL,
    test BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    purchaser ordered_text NOT NULL,
    updated BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    invoice_number ordered_text NOT NULL,
    payment_method ordered_text NOT NULL,
    total BIGINT NOT NULL,
    discount ordered_text NOT NULL,
    live BIGINT NOT NULL,
    chapters ordered_text NOT NULL DEFAULT '',
    list_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE UNIQUE INDEX orders_by_invoice ON orders (account, invoice_number);
CREATE INDEX orders_by_purchaser ON orders (account, purchaser, created_at);
CREATE INDEX orders_by_discount ON orders (account, season, discount, live, purchaser) WHERE discount <> '';
CREATE INDEX orders_of_lists ON orders (account, list_revision, slug, purchaser, season, payment_status, test, deleted,
    updated, created_at, invoice_number, payment_method, total, chapters);

-- The entries that lines of orders name, and at which prices; no price is an empty text. void: whether the lines pay for nothing,
-- because the order is a test, in the trash or a credit note, or was credited.
CREATE TABLE order_entries (
    account BIGINT NOT NULL,
    order_slug ordered_text NOT NULL,
    entry ordered_text NOT NULL,
    price ordered_text NOT NULL,
    void BIGINT NOT NULL,
    PRIMARY KEY (account, order_slug, entry, price)
);
CREATE INDEX order_entries_of_entry ON order_entries (account, entry, void, price, order_slug);

-- A judge, or a role, who is to judge an entry in a score set, with the sheet in the document. judge, role: empty for none.
CREATE TABLE assignments (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    entry ordered_text NOT NULL,
    judge ordered_text NOT NULL,
    role ordered_text NOT NULL,
    score_set ordered_text NOT NULL,
    method ordered_text NOT NULL,
    status ordered_text NOT NULL,
    conflicted BIGINT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    list_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE INDEX assignments_of_entry ON assignments (account, entry, judge, score_set);
CREATE INDEX assignments_of_judge ON assignments (account, judge, score_set);
CREATE INDEX assignments_of_lists ON assignments (account, list_revision, slug, entry, judge, role, score_set, method,
    status, conflicted, created, updated, deleted);

-- The panels that assign.
CREATE TABLE assignment_panels (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    panel ordered_text NOT NULL,
    PRIMARY KEY (account, slug, panel)
);

-- The rounds in which assignments are judged.
CREATE TABLE assignment_rounds (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    round ordered_text NOT NULL,
    PRIMARY KEY (account, slug, round)
);

-- Judges who are never to judge an entry, because they said so.
CREATE TABLE conflicts (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    entry ordered_text NOT NULL,
    judge ordered_text NOT NULL,
    updated BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    list_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE INDEX conflicts_of_entry ON conflicts (account, entry, judge, deleted, slug);

-- Judges whom a manager took off an entry. score_set: empty for all of them.
CREATE TABLE recusals (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    entry ordered_text NOT NULL,
    judge ordered_text NOT NULL,
    score_set ordered_text NOT NULL,
    updated BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    list_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE INDEX recusals_of_entry ON recusals (account, entry, judge, deleted, slug);

-- What the sheets of an entry in a score set come to. It follows from the assignments and is no record; the transaction that
-- changes one of them keeps it. slug: those of entry and score set. sheets: how many count. score: a number with 16 digits after
-- its point, in hexadecimal and without the point, so that texts are ordered as scores; empty where undecided. division,
-- submitted, auto_score, tags: those of the entry, as leaderboards sort by them. deleted: whether
-- no assignment is left outside the trash. list_revision: the number of the change by which it last became another one.
CREATE TABLE standings (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    entry ordered_text NOT NULL,
    score_set ordered_text NOT NULL,
    sheets BIGINT NOT NULL,
    score ordered_text NOT NULL,
    division BIGINT NOT NULL,
    submitted BIGINT NOT NULL,
    auto_score BIGINT NOT NULL,
    tags ordered_text NOT NULL,
    deleted BIGINT NOT NULL,
    list_revision BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE INDEX standings_of_lists ON standings (account, list_revision, slug, entry, score_set, sheets, score, division, submitted,
    auto_score, tags, deleted);

-- decision: empty for none yet. action_at: when it was decided, the greatest number for not yet.
CREATE TABLE review_tasks (
    account BIGINT NOT NULL,
    token ordered_text NOT NULL,
    entry ordered_text NOT NULL,
    review_stage ordered_text NOT NULL,
    decision ordered_text NOT NULL,
    action_at BIGINT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    list_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, token)
);
CREATE INDEX review_tasks_of_entry ON review_tasks (account, entry, created, token, deleted);
CREATE INDEX review_tasks_of_lists
    ON review_tasks (account, list_revision, token, entry, review_stage, decision, action_at, created, updated, deleted);

-- What the reviewers of review tasks are found by: e-mail addresses and names after case folding.
CREATE TABLE review_task_reviewers (
    account BIGINT NOT NULL,
    token ordered_text NOT NULL,
    reviewer ordered_text NOT NULL,
    PRIMARY KEY (account, token, reviewer)
);

-- When the service has something to do for a review task that waits: to bring it to mind, or to end it.
CREATE TABLE review_task_times (
    account BIGINT NOT NULL,
    token ordered_text NOT NULL,
    due BIGINT NOT NULL,
    PRIMARY KEY (account, token)
);

CREATE TABLE idempotent_answers (
    account BIGINT NOT NULL,
    api_key ordered_text NOT NULL,
    name ordered_text NOT NULL,
    request BYTEA NOT NULL,
    status BIGINT NOT NULL,
    headers ordered_text NOT NULL,
    body BYTEA NOT NULL,
    created BIGINT NOT NULL,
    PRIMARY KEY (account, api_key, name)
);
CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created);

-- How many bytes the kept answers of an account have.
CREATE TABLE idempotent_usage (
    account BIGINT NOT NULL PRIMARY KEY,
    bytes BIGINT NOT NULL
);

-- A window of a key's rate limit, where several nodes serve one database; on PostgreSQL a crash empties it. used: the requests
-- that nodes had taken before the last one took, granted: what that one got.
CREATE TABLE rate_windows (
    account BIGINT NOT NULL,
    api_key ordered_text NOT NULL,
    ends BIGINT NOT NULL,
    used BIGINT NOT NULL,
    granted BIGINT NOT NULL,
    PRIMARY KEY (account, api_key)
);

-- A piece of background work that one node does at a time. account: 0 for the installation. name: webhook:SLUG, jobs, upkeep.
-- due: when it wants to be done, the greatest number for never. position: how far it has read the change log, the greatest
-- number where it does not read it. state: what it remembers, as JSON. signal: raised by whoever changes what the work has in
-- memory. owner: the node. until: when that loses it. served: when it was done last. heir: the node that asks for it. Times are
-- those of the database.
CREATE TABLE leases (
    account BIGINT NOT NULL,
    name ordered_text NOT NULL,
    due BIGINT NOT NULL,
    position BIGINT NOT NULL,
    state ordered_text NOT NULL,
    signal BIGINT NOT NULL,
    owner ordered_text NOT NULL,
    until BIGINT NOT NULL,
    served BIGINT NOT NULL,
    heir ordered_text NOT NULL,
    PRIMARY KEY (account, name)
);
CREATE INDEX leases_of_owner ON leases (owner, account, name);

-- An event of a change for a webhook. place: of the event among those of the change. mark: the beginning of the change's hash.
-- at: the time of the change. state: pending, delivered, failed. due: of the next attempt; of one that ended, when it ended, or
-- was to be attempted. started: of the attempt under way, 0 for none. tried: attempts since it was begun, or begun anew. attempts: the last 50, as JSON.
CREATE TABLE deliveries (
    account BIGINT NOT NULL,
    webhook ordered_text NOT NULL,
    sequence BIGINT NOT NULL,
    place BIGINT NOT NULL,
    mark ordered_text NOT NULL,
    event ordered_text NOT NULL,
    kind ordered_text NOT NULL,
    slug ordered_text NOT NULL,
    at BIGINT NOT NULL,
    state ordered_text NOT NULL,
    due BIGINT NOT NULL,
    started BIGINT NOT NULL,
    tried BIGINT NOT NULL,
    attempts ordered_text NOT NULL,
    PRIMARY KEY (account, webhook, sequence, place)
);
CREATE INDEX deliveries_by_state ON deliveries (account, webhook, state, sequence, place);

-- What is sent, made at the first attempt and never changed: apart, so that the outcome of an attempt rewrites no body.
CREATE TABLE delivery_bodies (
    account BIGINT NOT NULL,
    webhook ordered_text NOT NULL,
    sequence BIGINT NOT NULL,
    place BIGINT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (account, webhook, sequence, place)
);

-- How many bytes the kept bodies of a webhook have.
CREATE TABLE delivery_usage (
    account BIGINT NOT NULL,
    webhook ordered_text NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (account, webhook)
);

-- Work that a request began. state: queued, running, done, failed, cancelled. due: when it is queued, not before. started,
-- finished: 0 for not yet. tried: starts since it last got on. checkpoint: where it goes on. progress, results, errors: as JSON.
CREATE TABLE jobs (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    kind ordered_text NOT NULL,
    state ordered_text NOT NULL,
    created BIGINT NOT NULL,
    due BIGINT NOT NULL,
    started BIGINT NOT NULL,
    finished BIGINT NOT NULL,
    tried BIGINT NOT NULL,
    actor ordered_text NOT NULL,
    input ordered_text NOT NULL,
    checkpoint ordered_text NOT NULL,
    progress ordered_text NOT NULL,
    results ordered_text NOT NULL,
    errors ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE INDEX jobs_in_order ON jobs (account, state, created, slug);
CREATE INDEX jobs_by_age ON jobs (account, created, slug);

CREATE TABLE maintenance (
    region ordered_text NOT NULL PRIMARY KEY,
    message ordered_text NOT NULL
);

CREATE TABLE secrets (
    name ordered_text NOT NULL PRIMARY KEY,
    bytes BYTEA NOT NULL
);
