-- A job. It has only one CHECK constraint, because PostgreSQL parses them again for every statement (decisions 0018 and
-- 0025). core/verbs.py, which changes jobs, keeps the conditions instead, and tests/soundness.py checks every row after
-- every test of a store.
--
-- The primary key is the only index that holds all jobs. No index depends on `state` or `leased`, so that ending a job with
-- a plain success changes no index at all. Queries find jobs by columns that are empty in nearly all of them instead:
--   `rare_state` is the state if it is waiting, partial, failed or cancelled, and NULL otherwise;
--   `live_key` is the key until the job ends, and NULL from then on;
--   `gate` is what the cap of the job's lane counts (1: slots, 2: open root jobs, 0: there is no cap), negative once the job
--   has ended and no longer counts;
--   `run_at` is only set while the job is scheduled, `deadline` only while it waits.
-- The columns that heartbeats and progress write are in no index either.
--
-- `pass` is the job's place in the fair order of its queue (core/fairness.py). `ready` means that a worker may claim it,
-- `parked` that it is held back by the cap of its lane. `attempt` counts its claims: a worker that comes with an older
-- number is refused. `wakes` counts what has woken it, so that nothing is missed between looking and going to sleep. `seq`
-- is the number of its last event. `closing` means that its own code is done and that it only waits for its children.
-- `due_at` is when a scheduled job was due: how long it waited is counted from then on. `subject_kind` and `subject_id` name
-- the thing of some product that it works on, or are both NULL.
--
-- `created_xid` and `started_xid` are the transactions in which it was created and first started. They are here because
-- these two events usually have no row in `event`, where their transaction would be.
--
-- Half of each page is left free: the claim and the end of a job each write its row anew, and both versions fit beside the
-- first.
CREATE TABLE towpath.job (
    id               uuid PRIMARY KEY,
    queue            text NOT NULL,
    operation        text NOT NULL,
    tenant           text NOT NULL,
    lane             text NOT NULL,
    priority         smallint NOT NULL DEFAULT 1,
    cost             float8 NOT NULL DEFAULT 1,
    pass             float8 NOT NULL DEFAULT 0,
    parent_id        uuid,
    root_id          uuid NOT NULL,
    child_group      text,
    key              text,
    live_key         text,
    state            text NOT NULL DEFAULT 'queued',
    rare_state       text,
    ready            boolean NOT NULL DEFAULT false,
    gate             smallint NOT NULL DEFAULT 0,
    parked           boolean NOT NULL DEFAULT false,
    reason           text,
    run_at           timestamptz,
    due_at           timestamptz,
    deadline         timestamptz,
    attempt          integer NOT NULL DEFAULT 0,
    failures         integer NOT NULL DEFAULT 0,
    retry_laters     integer NOT NULL DEFAULT 0,
    max_attempts     integer NOT NULL DEFAULT 3,
    wakes            integer NOT NULL DEFAULT 0,
    seq              integer NOT NULL DEFAULT 1,
    steps            integer NOT NULL DEFAULT 0,
    leased           boolean NOT NULL DEFAULT false,
    lease_until      timestamptz,
    worker_id        text,
    payload          json NOT NULL,
    result           json,
    error            json,
    error_kind       text,
    error_group      text,
    progress_current float8,
    progress_total   float8,
    children_total   integer NOT NULL DEFAULT 0,
    children_ok      integer NOT NULL DEFAULT 0,
    children_partial integer NOT NULL DEFAULT 0,
    children_bad     integer NOT NULL DEFAULT 0,
    await_group      text,
    await_open       integer NOT NULL DEFAULT 0,
    closing          boolean NOT NULL DEFAULT false,
    trace            text,
    subject_kind     text,
    subject_id       text,
    created_at       timestamptz NOT NULL DEFAULT now(),
    started_at       timestamptz,
    finished_at      timestamptz,
    created_xid      xid8,
    started_xid      xid8,
    CHECK ((subject_kind IS NULL) = (subject_id IS NULL))
) WITH (fillfactor = 50);

-- Through this index, and in its order, a claim finds its jobs.
CREATE INDEX job_ready ON towpath.job (queue, priority, pass, id) WHERE ready;
-- For questions about one lane. `lane IS NOT NULL` is true of every job, and is there for the planner: a query that names a
-- lane implies it, a claim does not. Without it the planner may claim through this index, and sort all jobs that are ready
-- (decision 0022).
CREATE INDEX job_lane ON towpath.job (queue, priority, lane, pass) WHERE ready AND lane IS NOT NULL;
CREATE INDEX job_due ON towpath.job (run_at, id) WHERE run_at IS NOT NULL;
CREATE INDEX job_deadline ON towpath.job (deadline, id) WHERE deadline IS NOT NULL;
CREATE INDEX job_gated ON towpath.job (queue, lane, parked, priority, id) WHERE gate > 0;
CREATE INDEX job_family ON towpath.job (parent_id, child_group, id) WHERE parent_id IS NOT NULL;
CREATE INDEX job_failed ON towpath.job (operation, id) WHERE rare_state = 'failed';
CREATE INDEX job_rare ON towpath.job (rare_state, id) WHERE rare_state IS NOT NULL;
CREATE INDEX job_rare_of ON towpath.job (tenant, rare_state, id) WHERE rare_state IS NOT NULL;
CREATE INDEX job_subject ON towpath.job (subject_kind, subject_id, id) WHERE subject_kind IS NOT NULL;
-- Root jobs with a subject, in the order in which they will be begun. Places in line are counted with it, without reading
-- over the children of jobs that have begun. It ends with `subject_id`, where `job_ready` has `id`, so that only this index
-- has the order that the query `line_subjects` asks for, and the planner has no other choice.
CREATE INDEX job_in_line ON towpath.job (queue, priority, pass, subject_id)
    WHERE ready AND parent_id IS NULL AND subject_kind IS NOT NULL;
CREATE UNIQUE INDEX job_key ON towpath.job (tenant, operation, live_key) WHERE live_key IS NOT NULL;

-- Which jobs each tenant has, for lists by tenant. A row is written once, when the job is made. An index on the job table
-- would be written again whenever the job is claimed, which is why this is a table.
CREATE TABLE towpath.owned (
    tenant text NOT NULL,
    id     uuid NOT NULL,
    PRIMARY KEY (tenant, id)
);

-- A row for each job that is leased, and no others. The transaction that leases a job adds the row, and the one that ends
-- the lease removes it. To whom the job is leased, and until when, is in its own row.
--
-- It is a table because an index on `leased` would be dearer: ending a job would then change an indexed column, and
-- PostgreSQL would write a new entry to the primary key as well (decision 0026 has the figures).
CREATE TABLE towpath.lease (
    job_id uuid PRIMARY KEY,
    queue  text NOT NULL
);

-- What happened to each job, numbered by `seq` without gaps. Most events have no row here, because the job's own row, which
-- is written in the same commit, says the same: that it was created (its event 1), that it was started for the first time
-- (if that is its event 2), and that it succeeded (if that is its last). The view `job_event` has these, too. Decision 0026
-- says what that saves.
--
-- `xid` is the transaction that wrote the event. A transaction with a lower number may commit later than one with a higher;
-- streams need the numbers to keep a job's events in order all the same.
CREATE TABLE towpath.event (
    job_id  uuid NOT NULL,
    seq     integer NOT NULL,
    attempt integer NOT NULL,
    name    text NOT NULL,
    level   text NOT NULL DEFAULT 'info',
    message text,
    fields  json,
    ts      timestamptz NOT NULL DEFAULT now(),
    xid     xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (job_id, seq)
);

-- Which events were committed, and in which order, for streams. A row says that each of `jobs` got its event number `seq` in
-- the transaction `xid`: one row is enough for many jobs. What the events are, is in `job_event`.
CREATE TABLE towpath.event_batch (
    xid  xid8 NOT NULL DEFAULT pg_current_xact_id(),
    ts   timestamptz NOT NULL DEFAULT now(),
    seq  integer NOT NULL,
    jobs uuid[] NOT NULL
) WITH (toast_tuple_target = 8160); -- some 500 jobs stay in the row itself
CREATE INDEX event_batch_xid ON towpath.event_batch (xid);

-- Jobs that were deleted: whose they were and what they worked on, so that streams can say that they are gone. The janitor
-- removes the row after eight days at the latest.
CREATE TABLE towpath.tombstone (
    job_id       uuid PRIMARY KEY,
    tenant       text NOT NULL,
    at           timestamptz NOT NULL,
    subject_kind text,
    subject_id   text
);
CREATE INDEX tombstone_at ON towpath.tombstone (at);

-- Things that jobs work on and that somebody has changed without a job, so that streams can tell; forgotten like tombstones.
CREATE TABLE towpath.notice (
    id           uuid PRIMARY KEY,
    tenant       text NOT NULL,
    at           timestamptz NOT NULL,
    subject_kind text NOT NULL,
    subject_id   text NOT NULL
);
CREATE INDEX notice_at ON towpath.notice (at);

-- Every event of every job, for histories and streams alike. A deleted job has one event left, which says so and has the
-- highest number there can be, 2147483647 (`DELETED_SEQ` of core/records.py). A notice is an event of no job, and stands here for streams alone.
CREATE VIEW towpath.job_event AS
SELECT job_id, seq, attempt, name, level, message, fields, ts FROM towpath.event
UNION ALL
SELECT id, 1, 0, 'job.created', 'info', CAST(NULL AS text), CAST(NULL AS json), created_at FROM towpath.job
UNION ALL
SELECT id, 2, 1, 'job.started', 'info', CAST(NULL AS text), CAST(NULL AS json), started_at FROM towpath.job AS job
WHERE seq > 1 AND started_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM towpath.event AS own WHERE own.job_id = job.id AND own.seq = 2)
UNION ALL
SELECT id, seq, attempt, 'job.succeeded', 'info', CAST(NULL AS text), CAST(NULL AS json), finished_at FROM towpath.job AS job
WHERE state = 'succeeded' AND NOT EXISTS (SELECT 1 FROM towpath.event AS own WHERE own.job_id = job.id AND own.seq = job.seq)
UNION ALL
SELECT job_id, 2147483647, 0, 'job.deleted', 'info', tenant,
       CASE WHEN subject_kind IS NOT NULL THEN json_build_object('kind', subject_kind, 'id', subject_id) END, at FROM towpath.tombstone
UNION ALL
SELECT id, 2147483647, 0, 'subject.changed', 'info', tenant, json_build_object('kind', subject_kind, 'id', subject_id), at
FROM towpath.notice;

-- Recorded steps. When a job is run again, a step that is done is not: it answers with its recorded output.
CREATE TABLE towpath.step (
    job_id      uuid NOT NULL,
    name        text NOT NULL,
    kind        text NOT NULL,
    ord         integer NOT NULL,
    done        boolean NOT NULL,
    output      json,
    attempt     integer NOT NULL,
    retries     integer NOT NULL DEFAULT 0,
    duration_ms float8,
    model       text,
    tokens_in   bigint,
    tokens_out  bigint,
    cost_cents  float8,
    until       timestamptz,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, name)
);

-- Signals that were sent to jobs. `consumed_by` is the step that has received it, NULL while none has.
CREATE TABLE towpath.signal (
    id          uuid PRIMARY KEY,
    job_id      uuid NOT NULL,
    name        text NOT NULL,
    payload     json NOT NULL,
    consumed_by text,
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX signal_pending ON towpath.signal (job_id, name, id) WHERE consumed_by IS NULL;
CREATE INDEX signal_job ON towpath.signal (job_id);

-- What each job has used of each model, in all of its attempts together.
CREATE TABLE towpath.job_usage (
    job_id           uuid NOT NULL,
    model            text NOT NULL,
    calls            bigint NOT NULL,
    tokens_in        bigint NOT NULL,
    tokens_out       bigint NOT NULL,
    cost_cents       float8 NOT NULL,
    priced_calls     bigint NOT NULL,
    unpriced_in      bigint NOT NULL,
    unpriced_out     bigint NOT NULL,
    unmeasured_calls bigint NOT NULL,
    PRIMARY KEY (job_id, model)
);

-- Requests to make a job that came with an Idempotency-Key, and the job that each of them made. The same request, sent
-- again, is answered with that job.
CREATE TABLE towpath.idempotency (
    tenant     text NOT NULL,
    operation  text NOT NULL,
    key        text NOT NULL,
    body_hash  text NOT NULL,
    job_id     uuid NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, operation, key)
);
CREATE INDEX idempotency_created ON towpath.idempotency (created_at);

-- The weight of a lane in the fair order of its queue, and its cap on slots or on open root jobs. A lane without settings
-- has no row.
CREATE TABLE towpath.lane (
    queue      text NOT NULL,
    lane       text NOT NULL,
    weight     float8 NOT NULL DEFAULT 1 CHECK (weight > 0),
    max_slots  integer CHECK (max_slots >= 0),
    max_roots  integer CHECK (max_roots >= 0),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (queue, lane),
    CHECK (max_slots IS NULL OR max_roots IS NULL)
);

-- Queues that were paused or capped. A queue without a row is neither.
CREATE TABLE towpath.queue (
    name      text PRIMARY KEY,
    paused    boolean NOT NULL DEFAULT false,
    paused_at timestamptz,
    max_slots integer CHECK (max_slots >= 0)
);

-- How far claims have come in the fair order, by queue and priority: the highest `pass` claimed so far (core/fairness.py).
-- The next job of a lane that has none waiting is placed there.
CREATE TABLE towpath.clock (
    queue    text NOT NULL,
    priority smallint NOT NULL,
    floor    float8 NOT NULL,
    PRIMARY KEY (queue, priority)
) WITH (fillfactor = 50);

-- Rate limits that jobs have run into, by the name of the budget. Other jobs that need it wait until `blocked_until`.
CREATE TABLE towpath.budget (
    name          text PRIMARY KEY,
    blocked_until timestamptz NOT NULL,
    reason        text
);

-- A worker as the others see it. Each heartbeat sets `alive_until` to the time at which the leases that it renews will end:
-- if there is no other heartbeat, the worker counts as alive until then. `process` names its process, so that a janitor on
-- the same machine can see whether it has ended. Decision 0021 says why that matters.
CREATE TABLE towpath.worker (
    id          text PRIMARY KEY,
    name        text NOT NULL,
    queues      json NOT NULL,
    operations  json NOT NULL,
    concurrency integer NOT NULL,
    running     integer NOT NULL DEFAULT 0,
    version     text NOT NULL,
    started_at  timestamptz NOT NULL,
    seen_at     timestamptz NOT NULL,
    stopped_at  timestamptz,
    alive_until timestamptz,
    process     text
) WITH (fillfactor = 50);

-- Cron schedules. `origin` says who keeps one: the code of some process ('code'), or people ('people'). A schedule of code
-- lives as long as some process declares it. Each process has a row in `declared` for each of its schedules, and renews it
-- before `until`.
CREATE TABLE towpath.schedule (
    name        text PRIMARY KEY,
    cron        text NOT NULL,
    timezone    text NOT NULL,
    operation   text NOT NULL,
    queue       text NOT NULL,
    payload     json NOT NULL,
    tenant      text NOT NULL,
    priority    smallint NOT NULL DEFAULT 1,
    max_attempts integer NOT NULL DEFAULT 3,
    paused      boolean NOT NULL DEFAULT false,
    next_fire   timestamptz NOT NULL,
    last_fire   timestamptz,
    last_job_id uuid,
    origin      text NOT NULL DEFAULT 'code' CHECK (origin IN ('code', 'people')),
    declared_at timestamptz
);
CREATE TABLE towpath.declared (
    name        text NOT NULL,
    declared_by text NOT NULL,
    until       timestamptz NOT NULL,
    PRIMARY KEY (name, declared_by)
);

-- What each transaction changed in the counts: a row for each queue and operation. The janitor adds the rows up in the
-- tables below, and removes them. So pages need not count the jobs, and transactions need not wait for each other at a
-- counter (decision 0007).
CREATE TABLE towpath.count_delta (
    at           timestamptz NOT NULL DEFAULT now(),
    queue        text NOT NULL,
    operation    text NOT NULL,
    created      integer NOT NULL DEFAULT 0,
    started      integer NOT NULL DEFAULT 0,
    succeeded    integer NOT NULL DEFAULT 0,
    partial      integer NOT NULL DEFAULT 0,
    failed       integer NOT NULL DEFAULT 0,
    cancelled    integer NOT NULL DEFAULT 0,
    retried      integer NOT NULL DEFAULT 0,
    queued       integer NOT NULL DEFAULT 0,
    running      integer NOT NULL DEFAULT 0,
    waiting      integer NOT NULL DEFAULT 0,
    wait_seconds float8 NOT NULL DEFAULT 0,
    run_seconds  float8 NOT NULL DEFAULT 0,
    -- How long each counted job waited and ran, in seconds; the janitor counts them in the histograms below.
    waits        real[],
    runs         real[]
);

-- Counts by the minute, for charts. What is older than two days is folded into hours, here and in the tables by the quarter
-- of an hour; `upkeep` says how far that has come.
CREATE TABLE towpath.rollup (
    queue        text NOT NULL,
    operation    text NOT NULL,
    minute       timestamptz NOT NULL,
    created      bigint NOT NULL,
    started      bigint NOT NULL,
    succeeded    bigint NOT NULL,
    partial      bigint NOT NULL,
    failed       bigint NOT NULL,
    cancelled    bigint NOT NULL,
    retried      bigint NOT NULL,
    wait_seconds float8 NOT NULL,
    run_seconds  float8 NOT NULL,
    PRIMARY KEY (queue, operation, minute)
);
CREATE INDEX rollup_minute ON towpath.rollup (minute);

CREATE TABLE towpath.upkeep (
    name       text PRIMARY KEY,
    done_until timestamptz
);
INSERT INTO towpath.upkeep (name) VALUES ('rollups');

-- How many jobs each queue has now, but for the count deltas that have not been added yet.
CREATE TABLE towpath.depth (
    queue   text PRIMARY KEY,
    queued  bigint NOT NULL,
    running bigint NOT NULL,
    waiting bigint NOT NULL
);

-- How long jobs waited and ran: how many were in each bucket of durations (core/histogram.py), by the quarter of an hour,
-- and for a few hours by the minute as well.
CREATE TABLE towpath.histogram (
    queue     text NOT NULL,
    operation text NOT NULL,
    quarter   timestamptz NOT NULL,
    what      text NOT NULL CHECK (what IN ('wait', 'run')),
    bucket    integer NOT NULL,
    jobs      bigint NOT NULL,
    PRIMARY KEY (queue, operation, quarter, what, bucket)
);
CREATE INDEX histogram_quarter ON towpath.histogram (quarter);
CREATE TABLE towpath.histogram_minute (
    queue     text NOT NULL,
    operation text NOT NULL,
    minute    timestamptz NOT NULL,
    what      text NOT NULL CHECK (what IN ('wait', 'run')),
    bucket    integer NOT NULL,
    jobs      bigint NOT NULL,
    PRIMARY KEY (queue, operation, minute, what, bucket)
);
CREATE INDEX histogram_minute_minute ON towpath.histogram_minute (minute);

-- Counts since the first job, for metrics, which must only ever rise: they are never pruned.
CREATE TABLE towpath.lifetime (
    queue        text NOT NULL,
    operation    text NOT NULL,
    created      bigint NOT NULL,
    started      bigint NOT NULL,
    succeeded    bigint NOT NULL,
    partial      bigint NOT NULL,
    failed       bigint NOT NULL,
    cancelled    bigint NOT NULL,
    retried      bigint NOT NULL,
    wait_seconds float8 NOT NULL,
    run_seconds  float8 NOT NULL,
    PRIMARY KEY (queue, operation)
);
CREATE TABLE towpath.lifetime_histogram (
    queue     text NOT NULL,
    operation text NOT NULL,
    what      text NOT NULL CHECK (what IN ('wait', 'run')),
    bucket    integer NOT NULL,
    jobs      bigint NOT NULL,
    PRIMARY KEY (queue, operation, what, bucket)
);

-- Calls of models, what they used and what they cost. `usage_delta` is written with the calls and added up like
-- `count_delta`: in `usage` by the quarter of an hour, which later becomes hours, and for a few hours in `spend` by the
-- minute.
CREATE TABLE towpath.usage_delta (
    at               timestamptz NOT NULL DEFAULT now(),
    tenant           text NOT NULL,
    queue            text NOT NULL,
    operation        text NOT NULL,
    model            text NOT NULL,
    calls            bigint NOT NULL,
    tokens_in        bigint NOT NULL,
    tokens_out       bigint NOT NULL,
    cost_cents       float8 NOT NULL,
    priced_calls     bigint NOT NULL,
    unpriced_in      bigint NOT NULL,
    unpriced_out     bigint NOT NULL,
    unmeasured_calls bigint NOT NULL
);
CREATE TABLE towpath.usage (
    tenant           text NOT NULL,
    quarter          timestamptz NOT NULL,
    queue            text NOT NULL,
    operation        text NOT NULL,
    model            text NOT NULL,
    calls            bigint NOT NULL,
    tokens_in        bigint NOT NULL,
    tokens_out       bigint NOT NULL,
    cost_cents       float8 NOT NULL,
    priced_calls     bigint NOT NULL,
    unpriced_in      bigint NOT NULL,
    unpriced_out     bigint NOT NULL,
    unmeasured_calls bigint NOT NULL,
    PRIMARY KEY (tenant, quarter, queue, operation, model)
);
CREATE INDEX usage_quarter ON towpath.usage (quarter);
CREATE TABLE towpath.spend (
    minute           timestamptz NOT NULL,
    tenant           text NOT NULL,
    queue            text NOT NULL,
    operation        text NOT NULL,
    model            text NOT NULL,
    calls            bigint NOT NULL,
    tokens_in        bigint NOT NULL,
    tokens_out       bigint NOT NULL,
    cost_cents       float8 NOT NULL,
    priced_calls     bigint NOT NULL,
    unpriced_in      bigint NOT NULL,
    unpriced_out     bigint NOT NULL,
    unmeasured_calls bigint NOT NULL,
    PRIMARY KEY (minute, tenant, queue, operation, model)
);

-- What a million tokens of a model cost, for calls that came without a cost of their own.
CREATE TABLE towpath.price (
    model                    text PRIMARY KEY,
    input_per_million_cents  float8 NOT NULL CHECK (input_per_million_cents >= 0),
    output_per_million_cents float8 NOT NULL CHECK (output_per_million_cents >= 0),
    updated_at               timestamptz NOT NULL DEFAULT now()
);

-- How busy workers were. Every few seconds their heartbeats are looked at and added up here; divided by `samples`, the
-- number of looks, the columns are averages.
CREATE TABLE towpath.occupancy (
    minute      timestamptz PRIMARY KEY,
    samples     bigint NOT NULL,
    workers     bigint NOT NULL,
    concurrency bigint NOT NULL,
    running     bigint NOT NULL
);

-- Views for reports and dashboards. Their columns are described in docs/reference/sql-views.md, and later releases keep
-- them.
CREATE VIEW towpath.v_throughput AS
SELECT queue, operation, minute, created, started, succeeded, partial, failed, cancelled, retried,
       succeeded + partial + failed + cancelled AS ended, wait_seconds, run_seconds
FROM towpath.rollup;

CREATE VIEW towpath.v_latency AS
SELECT queue, operation, hour, what, jobs,
       CASE b50 WHEN 0 THEN 0.0005 ELSE 0.001 * power(2::float8, ((b50 - 0.5) / 4)::float8) END AS p50_seconds,
       CASE b95 WHEN 0 THEN 0.0005 ELSE 0.001 * power(2::float8, ((b95 - 0.5) / 4)::float8) END AS p95_seconds,
       CASE b99 WHEN 0 THEN 0.0005 ELSE 0.001 * power(2::float8, ((b99 - 0.5) / 4)::float8) END AS p99_seconds
FROM (
    SELECT queue, operation, hour, what, max(total)::bigint AS jobs, min(bucket) FILTER (WHERE seen >= 0.50 * total) AS b50,
           min(bucket) FILTER (WHERE seen >= 0.95 * total) AS b95, min(bucket) FILTER (WHERE seen >= 0.99 * total) AS b99
    FROM (
        SELECT queue, operation, hour, what, bucket,
               sum(jobs) OVER (PARTITION BY queue, operation, hour, what ORDER BY bucket) AS seen,
               sum(jobs) OVER (PARTITION BY queue, operation, hour, what) AS total
        FROM (SELECT queue, operation, date_trunc('hour', quarter) AS hour, what, bucket, sum(jobs) AS jobs
              FROM towpath.histogram GROUP BY 1, 2, 3, 4, 5) AS hourly
    ) AS ranked
    GROUP BY queue, operation, hour, what
) AS placed;

CREATE VIEW towpath.v_failures AS
SELECT queue, operation, date_trunc('hour', minute) AS hour, sum(started)::bigint AS started,
       sum(succeeded + partial + failed + cancelled)::bigint AS ended, sum(failed)::bigint AS failed,
       sum(retried)::bigint AS retried,
       sum(failed)::float8 / nullif(sum(succeeded + partial + failed + cancelled), 0)::float8 AS failure_rate,
       sum(retried)::float8 / nullif(sum(started), 0)::float8 AS retry_rate
FROM towpath.rollup GROUP BY 1, 2, 3;

CREATE VIEW towpath.v_causes AS
SELECT tenant, operation, error_kind AS kind, error_group AS cause, count(*) AS jobs, min(finished_at) AS first_at,
       max(finished_at) AS last_at
FROM towpath.job WHERE rare_state = 'failed' AND error_kind <> 'children'
GROUP BY tenant, operation, error_kind, error_group;

CREATE VIEW towpath.v_usage AS
SELECT u.tenant, u.queue, u.operation, nullif(u.model, '') AS model, u.hour, u.calls, u.tokens_in, u.tokens_out,
       CASE WHEN u.priced_calls > 0 OR (p.model IS NOT NULL AND u.calls > u.priced_calls + u.unmeasured_calls)
            THEN u.cost_cents + coalesce((u.unpriced_in * p.input_per_million_cents
                                          + u.unpriced_out * p.output_per_million_cents) / 1000000, 0) END AS cost_cents,
       u.unmeasured_calls > 0 OR (p.model IS NULL AND u.calls > u.priced_calls + u.unmeasured_calls) AS unpriced
FROM (SELECT tenant, queue, operation, model, date_trunc('hour', quarter) AS hour, sum(calls)::bigint AS calls,
             sum(tokens_in)::bigint AS tokens_in, sum(tokens_out)::bigint AS tokens_out, sum(cost_cents) AS cost_cents,
             sum(priced_calls)::bigint AS priced_calls, sum(unpriced_in)::bigint AS unpriced_in,
             sum(unpriced_out)::bigint AS unpriced_out, sum(unmeasured_calls)::bigint AS unmeasured_calls
      FROM towpath.usage GROUP BY 1, 2, 3, 4, 5) AS u
LEFT JOIN towpath.price AS p ON p.model = u.model;

CREATE VIEW towpath.v_queues AS
SELECT n.name AS queue, coalesce(sum(d.queued), 0)::bigint AS queued, coalesce(sum(d.running), 0)::bigint AS running,
       coalesce(sum(d.waiting), 0)::bigint AS waiting, coalesce(bool_or(q.paused), false) AS paused,
       max(q.max_slots) AS max_slots
FROM (SELECT queue AS name FROM towpath.depth UNION SELECT queue FROM towpath.count_delta UNION SELECT name FROM towpath.queue) AS n
LEFT JOIN (SELECT queue, queued, running, waiting FROM towpath.depth
           UNION ALL SELECT queue, queued, running, waiting FROM towpath.count_delta) AS d ON d.queue = n.name
LEFT JOIN towpath.queue AS q ON q.name = n.name
GROUP BY n.name;

CREATE VIEW towpath.v_workers AS
SELECT id, name, queues::text AS queues, operations::text AS operations, concurrency, running, version, started_at, seen_at,
       stopped_at, stopped_at IS NULL AND coalesce(alive_until, seen_at + interval '60 seconds') > now()
                   AND seen_at <= now() + interval '5 seconds' AS alive
FROM towpath.worker;

CREATE VIEW towpath.v_efficiency AS
SELECT minute, workers::float8 / samples AS workers, concurrency::float8 / samples AS concurrency,
       running::float8 / samples AS running, running::float8 / nullif(concurrency, 0) AS busy_ratio
FROM towpath.occupancy;

CREATE VIEW towpath.v_jobs AS
SELECT id, queue, operation, tenant, lane, priority, cost, state, reason, key, subject_kind, subject_id, parent_id, root_id,
       attempt AS entries, failures, max_attempts, steps, children_total, children_ok, children_partial, children_bad,
       progress_current, progress_total, error_kind, error_group AS error_cause, worker_id, created_at, run_at, deadline, started_at, finished_at,
       date_part('epoch', started_at - created_at) AS wait_seconds, date_part('epoch', finished_at - started_at) AS run_seconds
FROM towpath.job;

-- What was ordered from batch providers: a row for each job that there is at one of them, or may be.
-- `name` and `part` say which order of its job it is. One that was dropped with its job's records counts no more.
CREATE TABLE towpath.provider_job (
    id                 uuid PRIMARY KEY,
    job_id             uuid NOT NULL,
    name               text NOT NULL,
    part               integer NOT NULL,
    dropped            boolean NOT NULL DEFAULT false,
    tenant             text NOT NULL,
    provider           text NOT NULL,
    model              text NOT NULL,
    shard              integer NOT NULL DEFAULT 0,
    key                text NOT NULL UNIQUE,
    ordered            json NOT NULL,
    state              text NOT NULL,
    prepared           json,
    called_at          timestamptz,
    external_id        text,
    status             text,
    polls              integer NOT NULL DEFAULT 0,
    transient_failures integer NOT NULL DEFAULT 0,
    answer             json,
    error              text,
    output_uri         text,
    polled_at          timestamptz,
    -- When its provider had it polled at once.
    told_at            timestamptz,
    next_poll_at       timestamptz,
    deadline           timestamptz,
    created_at         timestamptz NOT NULL DEFAULT now(),
    submitted_at       timestamptz,
    ended_at           timestamptz
);
CREATE UNIQUE INDEX provider_job_part ON towpath.provider_job (job_id, name, part) WHERE NOT dropped;
CREATE INDEX provider_job_job ON towpath.provider_job (job_id);
-- Only jobs that are polled have a time for it, so looking for those that are due costs what is due.
CREATE INDEX provider_job_due ON towpath.provider_job (next_poll_at) WHERE next_poll_at IS NOT NULL;
CREATE INDEX provider_job_external ON towpath.provider_job (provider, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX provider_job_unknown ON towpath.provider_job (id) WHERE state = 'unknown';

-- How much may be spent, in cents: by a tenant in a month or ever, or by one run (a root job and what it makes).
CREATE TABLE towpath.spend_limit (
    scope      text NOT NULL,
    name       text NOT NULL,
    cents      float8 NOT NULL,
    period     text NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (scope, name)
);
-- What has been spent or is held back for work that is under way, by whom and in which period.
CREATE TABLE towpath.spend_account (
    scope  text NOT NULL,
    name   text NOT NULL,
    period text NOT NULL,
    cents  float8 NOT NULL,
    PRIMARY KEY (scope, name, period)
);
-- One entry for each thing that costs: first what it may cost, then what it did.
CREATE TABLE towpath.expense (
    job_id     uuid NOT NULL,
    name       text NOT NULL,
    tenant     text NOT NULL,
    run        uuid NOT NULL,
    month      text NOT NULL,
    cents      float8 NOT NULL,
    settled    boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (job_id, name)
);
-- Jobs that found too little money. They are listed before they wait, so that nobody who brings some misses them.
CREATE TABLE towpath.spend_waiter (
    job_id uuid PRIMARY KEY,
    tenant text NOT NULL
);
CREATE INDEX spend_waiter_tenant ON towpath.spend_waiter (tenant);
