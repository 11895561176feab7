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
