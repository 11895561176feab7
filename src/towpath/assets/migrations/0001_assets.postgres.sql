-- What people have uploaded. Files are known by their ids; the names they came with are only shown.
CREATE TABLE towpath.asset (
    id         text PRIMARY KEY,
    tenant     text NOT NULL,
    name       text NOT NULL,
    media_type text NOT NULL,
    kind       text NOT NULL,
    bytes      bigint NOT NULL,
    sha256     text NOT NULL,
    blob_key   text NOT NULL,
    state      text NOT NULL,
    meta       text NOT NULL,
    created_by text,
    created_at timestamptz NOT NULL,
    touched_at timestamptz NOT NULL,
    removed_at timestamptz
);
CREATE INDEX asset_tenant ON towpath.asset (tenant, id);
CREATE INDEX asset_unfinished ON towpath.asset (touched_at) WHERE state <> 'ready' OR removed_at IS NOT NULL;
-- Files are also found by what is in them: a recording that is sent again is known.
CREATE INDEX asset_content ON towpath.asset (sha256, tenant) WHERE state = 'ready';

-- What each tenant takes up: files as they are, uploads under way as they will be.
CREATE TABLE towpath.asset_usage (
    tenant text PRIMARY KEY,
    bytes  bigint NOT NULL,
    assets bigint NOT NULL
);

-- A file on its way to what it was sent for; its id is that of the asset it becomes.
CREATE TABLE towpath.asset_upload (
    id          text PRIMARY KEY,
    sender      text NOT NULL,
    length      bigint NOT NULL,
    received    bigint NOT NULL,
    purpose     text NOT NULL,
    options     text NOT NULL,
    metadata    text NOT NULL,
    result      text,
    error       text,
    finished_at timestamptz,
    touched_at  timestamptz NOT NULL
);
CREATE INDEX asset_upload_touched ON towpath.asset_upload (touched_at);

CREATE TABLE towpath.asset_part (
    upload_id text NOT NULL,
    start     bigint NOT NULL,
    bytes     bigint NOT NULL,
    blob_key  text NOT NULL,
    PRIMARY KEY (upload_id, start)
);
