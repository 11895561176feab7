-- What was asked for at once. There is no status here: it is told from the jobs, see status.py.
CREATE TABLE towpath_batch (
    id             text PRIMARY KEY,
    tenant         text NOT NULL,
    lane           text NOT NULL,
    title          text NOT NULL,
    task_type      text NOT NULL,
    provider       text NOT NULL,
    -- JSON: names, options, ids.
    models         text NOT NULL,
    settings       text NOT NULL,
    dataset_ids    text NOT NULL,
    -- Requests, once they have been read; what became of them, once that is known.
    count          integer,
    invalid        integer,
    ok             integer,
    failed         integer,
    -- JSON: the first of those that cannot be asked, with the reasons.
    invalid_inputs text,
    estimate_cents REAL,
    cost_cents     REAL,
    result_bytes   integer,
    retry_of       text,
    created_by     text,
    creator        text,
    created_at     REAL NOT NULL,
    removed_at     REAL,
    -- How the newest of its jobs had ended that are gone; see functions.sqlite.sql.
    last_job       text,
    last_kind      text,
    last_state     text,
    last_error     text
);
CREATE INDEX towpath_batch_tenant ON towpath_batch (tenant, id);

-- A stored list of inputs. Its lines are a blob of its own, an uploaded file, or still at an address.
CREATE TABLE towpath_batch_dataset (
    id         text PRIMARY KEY,
    tenant     text NOT NULL,
    name       text NOT NULL,
    asset_id   text,
    -- Where the lines come from, as it may be shown: without what stands behind its question mark.
    source     text,
    -- The batch that it came with: it goes with the last that names it. Null: it was made by itself, and stays.
    batch_id   text,
    created_at REAL NOT NULL
);
CREATE INDEX towpath_batch_dataset_tenant ON towpath_batch_dataset (tenant, id);

-- A batch that is put together of requests that come one by one. While it is open it takes more of them.
CREATE TABLE towpath_batch_gathering (
    batch_id text PRIMARY KEY,
    tenant   text NOT NULL,
    provider text NOT NULL,
    model    text NOT NULL,
    -- How long the provider may take; empty: as long as it does.
    span     text NOT NULL,
    is_open  boolean NOT NULL,
    count    integer NOT NULL,
    bytes    integer NOT NULL,
    due_at   REAL NOT NULL,
    -- Those who asked have been told that nothing comes of it.
    is_void  boolean NOT NULL DEFAULT 0
);
-- Whoever comes second finds the first one's: there is one open batch of a kind, however many ask at once.
CREATE UNIQUE INDEX towpath_batch_gathering_open ON towpath_batch_gathering (tenant, provider, model, span) WHERE is_open;

-- A request that a job waits for the answer of. It goes when the job has the answer.
CREATE TABLE towpath_batch_request (
    job_id   text NOT NULL,
    -- Which of its job's requests.
    name     text NOT NULL,
    batch_id text NOT NULL,
    -- Its place in the batch, from 1.
    number   integer NOT NULL,
    -- JSON; null once it is among the lines of the batch.
    body     text,
    digest   text NOT NULL,
    -- JSON: why there is no answer, until the job has read it.
    error    text,
    PRIMARY KEY (job_id, name)
);
CREATE INDEX towpath_batch_request_batch ON towpath_batch_request (batch_id, number);
