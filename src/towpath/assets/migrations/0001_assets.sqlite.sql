-- What people have uploaded. Files are known by their ids; the names they came with are only shown.
CREATE TABLE towpath_asset (
    id         text PRIMARY KEY,
    tenant     text NOT NULL,
    name       text NOT NULL,
    media_type text NOT NULL,
    kind       text NOT NULL,
    bytes      integer NOT NULL,
    sha256     text NOT NULL,
    blob_key   text NOT NULL,
    state      text NOT NULL,
    meta       text NOT NULL,
    created_by text,
    created_at REAL NOT NULL,
    touched_at REAL NOT NULL,
    removed_at REAL
);
CREATE INDEX towpath_asset_tenant ON towpath_asset (tenant, id);
CREATE INDEX towpath_asset_unfinished ON towpath_asset (touched_at) WHERE state <> 'ready' OR removed_at IS NOT NULL;
-- Files are also found by what is in them: a recording that is sent again is known.
CREATE INDEX towpath_asset_content ON towpath_asset (sha256, tenant) WHERE state = 'ready';

-- What each tenant takes up: files as they are, uploads under way as they will be.
CREATE TABLE towpath_asset_usage (
    tenant text PRIMARY KEY,
    bytes  integer NOT NULL,
    assets integer NOT NULL
);

-- A file on its way to what it was sent for; its id is that of the asset it becomes.
CREATE TABLE towpath_asset_upload (
    id          text PRIMARY KEY,
    sender      text NOT NULL,
    length      integer NOT NULL,
    received    integer NOT NULL,
    purpose     text NOT NULL,
    options     text NOT NULL,
    metadata    text NOT NULL,
    result      text,
    error       text,
    finished_at REAL,
    touched_at  REAL NOT NULL
);
CREATE INDEX towpath_asset_upload_touched ON towpath_asset_upload (touched_at);

CREATE TABLE towpath_asset_part (
    upload_id text NOT NULL,
    start     integer NOT NULL,
    bytes     integer NOT NULL,
    blob_key  text NOT NULL,
    PRIMARY KEY (upload_id, start)
);
