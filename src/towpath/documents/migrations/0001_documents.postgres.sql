-- What was asked to be read together. There is no status here: it is told from the jobs, see status.py.
CREATE TABLE towpath.document_run (
    id          text PRIMARY KEY,
    tenant      text NOT NULL,
    lane        text NOT NULL,
    kind        text NOT NULL,
    title       text NOT NULL,
    -- JSON: what was said of how to read them.
    settings    text NOT NULL,
    priority    text NOT NULL,
    -- How many items it has; unknown until a bucket's folder has been listed.
    count       bigint,
    created_by  text,
    creator     text,
    created_at  timestamptz NOT NULL,
    removed_at  timestamptz,
    -- How its job had ended, if that is gone; see functions.postgres.sql.
    last_job    text,
    last_state  text,
    last_error  text
);
CREATE INDEX document_run_tenant ON towpath.document_run (tenant, id);

-- One thing of a run that is to be read.
CREATE TABLE towpath.document_item (
    id          text PRIMARY KEY,
    run_id      text NOT NULL,
    tenant      text NOT NULL,
    number      bigint NOT NULL,
    name        text NOT NULL,
    -- Where it comes from: an uploaded file, or an address word for word until it has been read.
    asset_id    text,
    address     text,
    -- What it is known by: the document that has the same one is the same.
    source      text NOT NULL,
    -- JSON: what was said of this one, instead of what the run says.
    settings    text,
    document_id text,
    -- JSON: what it came to, once it is done: reused steps, tokens, cost.
    outcome     text,
    last_job    text,
    last_state  text,
    last_error  text,
    UNIQUE (run_id, number)
);
CREATE INDEX document_item_document ON towpath.document_item (document_id) WHERE document_id IS NOT NULL;
CREATE INDEX document_item_source ON towpath.document_item (tenant, source, id);

-- A document as it was read last.
CREATE TABLE towpath.document (
    id          text PRIMARY KEY,
    tenant      text NOT NULL,
    source      text NOT NULL,
    name        text NOT NULL,
    title       text NOT NULL,
    kind        text NOT NULL,
    media_type  text NOT NULL,
    language    text,
    unit        text NOT NULL,
    method      text NOT NULL,
    pages       bigint NOT NULL,
    characters  bigint NOT NULL,
    passages    bigint NOT NULL,
    embedded    text,
    bytes       bigint NOT NULL,
    sha256      text NOT NULL,
    asset_id    text NOT NULL,
    -- Whether its file was fetched for it, and goes with it.
    own_asset   boolean NOT NULL,
    address     text,
    -- The item that it was read for last, whose content it has.
    item_id     text NOT NULL,
    run_id      text NOT NULL,
    -- JSON: settings it was read with; warnings of the reader.
    settings    text NOT NULL,
    warnings    text NOT NULL,
    -- JSON: what steps that others have added made of it, by their names.
    made        text NOT NULL,
    -- What all of it was made of, and what is in the index.
    fingerprint text NOT NULL,
    indexed     text,
    content     text NOT NULL,
    -- The file or item that its content came with. Ids grow: what is older does not replace it, however late it is read.
    as_of       text NOT NULL,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL
);
CREATE UNIQUE INDEX document_source ON towpath.document (tenant, source);
CREATE INDEX document_tenant ON towpath.document (tenant, id);
CREATE INDEX document_asset ON towpath.document (asset_id);

-- What a step has made of some content, for whoever comes with the same: see results.py.
CREATE TABLE towpath.document_result (
    id         text PRIMARY KEY,
    tenant     text NOT NULL,
    step       text NOT NULL,
    -- Small ones are here, the others in a blob.
    body       bytea,
    blob       text,
    facts      text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX document_result_age ON towpath.document_result (created_at);

-- Who needs a result: the documents that are made of it, and items that are under way. What nobody needs is swept.
CREATE TABLE towpath.document_hold (
    holder_id text NOT NULL,
    result_id text NOT NULL,
    PRIMARY KEY (holder_id, result_id)
);
CREATE INDEX document_hold_result ON towpath.document_hold (result_id);
