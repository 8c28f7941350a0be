-- Documents that were made of templates. entry, recipient, reader: empty for none. reader is the recipient where the document is
-- shared. created_at, updated: times. name, filename: sort keys.
CREATE TABLE documents (
    account BIGINT NOT NULL,
    slug ordered_text NOT NULL,
    entry ordered_text NOT NULL,
    recipient ordered_text NOT NULL,
    reader ordered_text NOT NULL,
    file ordered_text NOT NULL,
    file_type ordered_text NOT NULL,
    name ordered_text NOT NULL,
    filename ordered_text NOT NULL,
    shared BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    list_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    doc_form BIGINT NOT NULL,
    doc ordered_text NOT NULL,
    PRIMARY KEY (account, slug)
);
CREATE INDEX documents_of_file ON documents (account, file, deleted);
CREATE INDEX documents_of_lists ON documents
    (account, list_revision, slug, entry, recipient, reader, file, file_type, name, filename, shared, created_at, updated, deleted);
