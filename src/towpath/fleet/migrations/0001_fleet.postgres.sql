-- What a remote worker is to do with one object. There is no status here: it is told from the jobs, see status.py.
CREATE TABLE towpath.fleet_task (
    id            text PRIMARY KEY,
    tenant        text NOT NULL,
    operation     text NOT NULL,
    -- JSON: what was said of how to do it.
    settings      text NOT NULL,
    -- Where its object lies: a bucket such as s3://in, or '' for the blob store of this installation.
    source        text NOT NULL,
    object_key    text NOT NULL,
    -- What tells this content of the object from any other: its version, or its ETag.
    mark          text NOT NULL,
    etag          text NOT NULL,
    size          bigint,
    -- Its checksum, where that is known beforehand.
    sha256        text,
    -- Where the result goes, in the same way.
    target        text NOT NULL,
    result_key    text NOT NULL,
    -- The queue that it is sent to; '' is for workers that ask over HTTPS.
    route         text NOT NULL,
    name          text NOT NULL,
    asset_id      text,
    created_by    text,
    creator       text,
    created_at    timestamptz NOT NULL,
    removed_at    timestamptz,
    result_bytes  bigint,
    result_sha256 text,
    -- How its job had ended, if that is gone; see functions.postgres.sql.
    last_job      text,
    last_state    text,
    last_error    text,
    UNIQUE (source, object_key, mark)
);
CREATE INDEX fleet_task_tenant ON towpath.fleet_task (tenant, id);

-- Objects that events told of: which content came last, so that what is told twice or late makes no second task.
CREATE TABLE towpath.fleet_object (
    source     text NOT NULL,
    object_key text NOT NULL,
    task_id    text,
    version    text NOT NULL,
    etag       text NOT NULL,
    sequencer  text NOT NULL,
    PRIMARY KEY (source, object_key)
);

-- A task that was sent: one row for each time, and what its worker has said since.
CREATE TABLE towpath.fleet_dispatch (
    task_id       text NOT NULL,
    attempt       bigint NOT NULL,
    job_id        text NOT NULL,
    tenant        text NOT NULL,
    operation     text NOT NULL,
    route         text NOT NULL,
    -- What the secret of the task and links to its objects are made of. It is worth nothing when the attempt has ended.
    link_key      text NOT NULL,
    made_at       timestamptz NOT NULL,
    sent_at       timestamptz,
    deadline      timestamptz NOT NULL,
    -- The latest URLs, and until when they open anything.
    get_url       text,
    put_url       text,
    urls_until    timestamptz,
    worker_id     text,
    claimed_at    timestamptz,
    heard_at      timestamptz,
    -- Until when somebody has to be heard of; before it was taken up, until when that has to be.
    lease_until   timestamptz NOT NULL,
    -- The number of the last message that counted; older ones are dropped.
    sequence      bigint NOT NULL DEFAULT 0,
    progress      double precision,
    progress_total double precision,
    message       text,
    -- JSON: what the worker says it came to. It is believed when somebody has looked, and then there is an outcome.
    report        text,
    reported_at   timestamptz,
    outcome       text,
    kind          text,
    reason        text,
    ended_at      timestamptz,
    PRIMARY KEY (task_id, attempt)
);
CREATE INDEX fleet_dispatch_lease ON towpath.fleet_dispatch (lease_until) WHERE report IS NULL AND ended_at IS NULL;
CREATE INDEX fleet_dispatch_offer ON towpath.fleet_dispatch (made_at, task_id)
    WHERE route = '' AND claimed_at IS NULL AND report IS NULL AND ended_at IS NULL;
CREATE INDEX fleet_dispatch_worker ON towpath.fleet_dispatch (worker_id, made_at);
CREATE INDEX fleet_dispatch_made ON towpath.fleet_dispatch (made_at);

-- Lines that operations have written on remote workers.
CREATE TABLE towpath.fleet_note (
    task_id text NOT NULL,
    attempt bigint NOT NULL,
    number  bigint NOT NULL,
    at      timestamptz NOT NULL,
    level   text NOT NULL,
    name    text NOT NULL,
    message text,
    fields  text,
    PRIMARY KEY (task_id, attempt, number)
);

-- Remote workers: those that were given a token, and those that were heard of through a queue.
CREATE TABLE towpath.fleet_worker (
    id         text PRIMARY KEY,
    name       text NOT NULL,
    -- Whose tasks it may have; null is everybody's.
    tenant     text,
    via        text NOT NULL,
    hash       text UNIQUE,
    prefix     text,
    created_by text,
    created_at timestamptz NOT NULL,
    revoked_at timestamptz,
    seen_at    timestamptz,
    -- 1 from when it came until it was told that it has gone.
    present    bigint NOT NULL DEFAULT 0,
    host       text,
    version    text,
    slots      bigint NOT NULL DEFAULT 0,
    busy       bigint NOT NULL DEFAULT 0,
    operations text NOT NULL DEFAULT ''
);
CREATE INDEX fleet_worker_seen ON towpath.fleet_worker (seen_at);

-- Folders of buckets that orchestrators look after, so that notices can also come to a server.
CREATE TABLE towpath.fleet_intake (
    bucket     text NOT NULL,
    folder     text NOT NULL,
    tenant     text NOT NULL,
    -- JSON: what becomes of its objects, and where the results go.
    told       text NOT NULL,
    updated_at timestamptz NOT NULL,
    swept_at   timestamptz,
    PRIMARY KEY (bucket, folder, tenant)
);

-- How many tasks of a lane may be open, as the recovery loop has set it. A lane that says otherwise was set by hand.
CREATE TABLE towpath.fleet_room (
    queue     text NOT NULL,
    lane      text NOT NULL,
    max_roots bigint NOT NULL,
    PRIMARY KEY (queue, lane)
);
