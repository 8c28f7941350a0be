-- BIGINT holds integers, flags (0 or 1) and times (microseconds since 1970-01-01 UTC); ordered_text is text that is
-- compared byte by byte on both engines (on PostgreSQL a domain over TEXT COLLATE "C").

-- version: the name of the change that the account's program was changed by last, which is part of that change's hash.
CREATE TABLE accounts (
    id BIGINT NOT NULL PRIMARY KEY,
    slug ordered_text NOT NULL UNIQUE,
    version BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    hash BYTEA NOT NULL,
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
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);

CREATE TABLE setup_records (
    account BIGINT NOT NULL,
    kind ordered_text NOT NULL,
    slug ordered_text NOT NULL,
    deleted BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, kind, slug)
);
CREATE INDEX setup_records_by_revision ON setup_records (account, revision);

CREATE TABLE changes (
    account BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    at BIGINT NOT NULL,
    actor ordered_text NOT NULL,
    source ordered_text NOT NULL,
    kind ordered_text NOT NULL,
    slug ordered_text NOT NULL,
    action ordered_text NOT NULL,
    events ordered_text NOT NULL,
    doc ordered_text NOT NULL,
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

-- A person in an account. email, mobile, season_joined: empty for none. seasons: those of the user's live entries, each
-- after a blank. first_name, last_name, name: sort keys. confirmed_at: the least number for none. recency: the time of
-- the last change, negated.
CREATE TABLE users (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    person ordered_text NOT NULL,
    segment BIGINT NOT NULL,
    season_joined ordered_text NOT NULL,
    seasons ordered_text NOT NULL,
    email ordered_text NOT NULL,
    mobile ordered_text NOT NULL,
    first_name ordered_text NOT NULL,
    last_name ordered_text NOT NULL,
    name ordered_text NOT NULL,
    created_by ordered_text NOT NULL,
    confirmed_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    recency BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    detail ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE UNIQUE INDEX users_of_person ON users (person, account);
CREATE INDEX users_sorted_by_email ON users (account, email, slug, segment);
CREATE INDEX users_sorted_by_mobile ON users (account, mobile, slug, segment);
CREATE INDEX users_sorted_by_first_name ON users (account, first_name, slug, segment);
CREATE INDEX users_sorted_by_last_name ON users (account, last_name, slug, segment);
CREATE INDEX users_sorted_by_name ON users (account, name, slug, segment);
CREATE INDEX users_sorted_by_created_by ON users (account, created_by, slug, segment);
CREATE INDEX users_sorted_by_confirmed_at ON users (account, confirmed_at, slug, segment);
CREATE INDEX users_sorted_by_created_at ON users (account, created_at, slug, segment);
CREATE INDEX users_sorted_by_updated ON users (account, recency, slug, segment);

-- What the filters of the list tell users apart by, as one number, and how many users have it. roles, seasons: each
-- after a blank.
CREATE TABLE user_segments (
    account BIGINT NOT NULL,
    segment BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    confirmed BIGINT NOT NULL,
    language ordered_text NOT NULL,
    season_joined ordered_text NOT NULL,
    roles ordered_text NOT NULL,
    seasons ordered_text NOT NULL,
    total BIGINT NOT NULL,
    PRIMARY KEY (account, segment)
);
CREATE INDEX user_segments_by_meaning
    ON user_segments (account, deleted, confirmed, language, season_joined, roles, seasons);

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

-- segment: what the filters of lists tell entries apart by, as one number. division: 0 for none. title_key and
-- entrant_key: the title and the entrant's name after case folding, by which lists sort and search. recency: the time of
-- the last change, negated, so that the newest comes first in an ascending index whose ties are ordered by slug.
CREATE TABLE entries (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    local_id BIGINT NOT NULL,
    season ordered_text NOT NULL,
    segment BIGINT NOT NULL,
    category ordered_text NOT NULL,
    division BIGINT NOT NULL,
    chapter ordered_text NOT NULL,
    form ordered_text NOT NULL,
    entrant ordered_text NOT NULL,
    status ordered_text NOT NULL,
    moderation ordered_text NOT NULL,
    payment ordered_text NOT NULL,
    review ordered_text NOT NULL,
    title ordered_text NOT NULL,
    title_key ordered_text NOT NULL,
    entrant_key ordered_text NOT NULL,
    created BIGINT NOT NULL,
    recency BIGINT NOT NULL,
    archived BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    detail ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE UNIQUE INDEX entries_by_local_id ON entries (account, local_id);
CREATE INDEX entries_of_entrant ON entries (account, entrant, slug, segment);
CREATE INDEX entries_of_segment ON entries (account, segment, slug);
CREATE INDEX entries_of_category ON entries (account, category, local_id, slug, segment);
CREATE INDEX entries_of_chapter ON entries (account, chapter, local_id, slug, segment);
CREATE INDEX entries_sorted_by_updated ON entries (account, season, recency, slug, segment);
CREATE INDEX entries_sorted_by_title ON entries (account, season, title_key, slug, segment);
CREATE INDEX entries_sorted_by_applicant ON entries (account, season, entrant_key, slug, segment);
CREATE INDEX entries_sorted_by_local_id ON entries (account, season, local_id, slug, segment);

-- The tags of entries, those in the trash included.
CREATE TABLE entry_tags (
    account BIGINT NOT NULL,
    tag ordered_text NOT NULL,
    slug ordered_text NOT NULL,
    PRIMARY KEY (account, tag, slug)
);

-- The segments of entries: what each stands for and how many entries it has, kept by the transaction that changes an
-- entry. Its number follows from what it stands for.
CREATE TABLE entry_counts (
    account BIGINT NOT NULL,
    segment BIGINT NOT NULL,
    season ordered_text NOT NULL,
    category ordered_text NOT NULL,
    chapter ordered_text NOT NULL,
    form ordered_text NOT NULL,
    division BIGINT NOT NULL,
    status ordered_text NOT NULL,
    moderation ordered_text NOT NULL,
    payment ordered_text NOT NULL,
    review ordered_text NOT NULL,
    archived BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    total BIGINT NOT NULL,
    PRIMARY KEY (account, segment)
);
CREATE INDEX entry_counts_of_category ON entry_counts (account, season, category);

-- What stands on the tabs of entries: contributors, and attachments further down. segment: what some filters of their
-- lists tell them apart by, 0 where it or its entry is in the trash. entry_key: the title of the entry after case folding.
-- recency: the time of the last change, negated.
CREATE TABLE contributors (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    entry ordered_text NOT NULL,
    tab ordered_text NOT NULL,
    segment BIGINT NOT NULL,
    entry_key ordered_text NOT NULL,
    created BIGINT NOT NULL,
    recency BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE INDEX contributors_of_entry ON contributors (account, entry, slug);
CREATE INDEX contributors_sorted_by_entry ON contributors (account, entry_key, slug, segment);
CREATE INDEX contributors_sorted_by_tab ON contributors (account, tab, slug, segment);
CREATE INDEX contributors_sorted_by_created ON contributors (account, created, slug, segment);
CREATE INDEX contributors_sorted_by_updated ON contributors (account, recency, slug, segment);

-- The answers of contributors as the list sorts by them.
CREATE TABLE contributor_answers (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    field ordered_text NOT NULL,
    sort_key ordered_text NOT NULL,
    PRIMARY KEY (account, slug, field)
);
CREATE INDEX contributor_answers_sorted ON contributor_answers (account, field, sort_key, slug);

-- What seldom changes of what filters tell contributors and attachments (kind) apart by, as one number, and how many have it.
CREATE TABLE belonging_segments (
    account BIGINT NOT NULL,
    segment BIGINT NOT NULL,
    kind ordered_text NOT NULL,
    season ordered_text NOT NULL,
    category ordered_text NOT NULL,
    tab ordered_text NOT NULL,
    total BIGINT NOT NULL,
    PRIMARY KEY (account, segment)
);
CREATE INDEX belonging_segments_by_meaning ON belonging_segments (account, kind, season, category, tab);

CREATE TABLE files (
    account BIGINT NOT NULL,
    token ordered_text NOT NULL,
    revision BIGINT NOT NULL,
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
    segment BIGINT NOT NULL,
    entry_key ordered_text NOT NULL,
    created BIGINT NOT NULL,
    recency BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, token)
);
CREATE INDEX attachments_of_entry ON attachments (account, entry, place, token);
CREATE INDEX attachments_sorted_by_entry ON attachments (account, entry_key, token, segment);
CREATE INDEX attachments_sorted_by_tab ON attachments (account, tab, token, segment);
CREATE INDEX attachments_sorted_by_order ON attachments (account, place, token, segment);
CREATE INDEX attachments_sorted_by_created ON attachments (account, created, token, segment);
CREATE INDEX attachments_sorted_by_updated ON attachments (account, recency, token, segment);

-- segment: 1 awaiting payment, 2 test, 4 deleted, added up. recency: the time of the last change, negated, so that
-- the newest comes first in an ascending index whose ties are ordered by slug. total: in ten-thousandths.
-- invoice_number: its sort key, by which numbers are ordered by their value.
CREATE TABLE orders (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    season ordered_text NOT NULL,
    segment BIGINT NOT NULL,
    purchaser ordered_text NOT NULL,
    recency BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    invoice_number ordered_text NOT NULL,
    payment_method ordered_text NOT NULL,
    total BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    note ordered_text NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE UNIQUE INDEX orders_by_invoice ON orders (account, invoice_number);
CREATE INDEX orders_of_purchaser ON orders (account, purchaser, slug);
CREATE INDEX orders_sorted_by_updated ON orders (account, season, segment, recency, slug);
CREATE INDEX orders_sorted_by_created_at ON orders (account, season, segment, created_at, slug);
CREATE INDEX orders_sorted_by_invoice_number ON orders (account, season, segment, invoice_number, slug);
CREATE INDEX orders_sorted_by_payment_method ON orders (account, season, segment, payment_method, slug);
CREATE INDEX orders_sorted_by_total ON orders (account, season, segment, total, slug);

-- The entries that lines of orders name, and at which prices; no price is an empty text. deleted: whether the order is in
-- the trash.
CREATE TABLE order_entries (
    account BIGINT NOT NULL,
    order_slug ordered_text NOT NULL,
    entry ordered_text NOT NULL,
    price ordered_text NOT NULL,
    deleted BIGINT NOT NULL,
    PRIMARY KEY (account, order_slug, entry, price)
);
CREATE INDEX order_entries_of_entry ON order_entries (account, entry, order_slug);
CREATE INDEX order_entries_of_price ON order_entries (account, price, entry);

-- How many orders are in each season and segment, kept by the transaction that changes an order.
CREATE TABLE order_counts (
    account BIGINT NOT NULL,
    season ordered_text NOT NULL,
    segment BIGINT NOT NULL,
    total BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    PRIMARY KEY (account, season, segment)
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

CREATE TABLE maintenance (
    region ordered_text NOT NULL PRIMARY KEY,
    message ordered_text NOT NULL
);

CREATE TABLE secrets (
    name ordered_text NOT NULL PRIMARY KEY,
    bytes BYTEA NOT NULL
);
