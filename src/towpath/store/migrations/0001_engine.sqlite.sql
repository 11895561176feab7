-- A job. The conditions on its columns cost nothing here; on PostgreSQL they would, and there core/verbs.py, which changes jobs,
-- keeps them (decisions 0018 and 0025). tests/soundness.py looks at every row after every test of a store.
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
CREATE TABLE towpath_job (
    id               text PRIMARY KEY NOT NULL,
    queue            text NOT NULL,
    operation        text NOT NULL,
    tenant           text NOT NULL,
    lane             text NOT NULL,
    priority         integer NOT NULL DEFAULT 1,
    cost             REAL NOT NULL DEFAULT 1,
    pass             REAL NOT NULL DEFAULT 0,
    parent_id        text,
    root_id          text NOT NULL,
    child_group      text,
    key              text,
    live_key         text,
    state            text NOT NULL DEFAULT 'queued',
    rare_state       text,
    ready            boolean NOT NULL DEFAULT false,
    gate             integer NOT NULL DEFAULT 0,
    parked           boolean NOT NULL DEFAULT false,
    reason           text,
    run_at           REAL,
    due_at           REAL,
    deadline         REAL,
    attempt          integer NOT NULL DEFAULT 0,
    failures         integer NOT NULL DEFAULT 0,
    retry_laters     integer NOT NULL DEFAULT 0,
    max_attempts     integer NOT NULL DEFAULT 3,
    wakes            integer NOT NULL DEFAULT 0,
    seq              integer NOT NULL DEFAULT 1,
    steps            integer NOT NULL DEFAULT 0,
    leased           boolean NOT NULL DEFAULT false,
    lease_until      REAL,
    worker_id        text,
    payload          text NOT NULL,
    result           text,
    error            text,
    error_kind       text,
    error_group      text,
    progress_current REAL,
    progress_total   REAL,
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
    created_at       REAL NOT NULL DEFAULT (unixepoch('subsec')),
    started_at       REAL,
    finished_at      REAL,
    CHECK (priority BETWEEN 0 AND 3),
    CHECK (cost > 0),
    CHECK (max_attempts > 0),
    -- Not `IN`: for that SQLite would fill a table with every statement (decision 0025).
    CHECK (state = 'running' OR state = 'succeeded' OR state = 'queued' OR state = 'waiting' OR state = 'failed'
           OR state = 'cancelled' OR state = 'partial'),
    CHECK (NOT ready OR state = 'queued'),
    CHECK (NOT parked OR (state = 'queued' AND NOT ready)),
    CHECK (state <> 'running' OR leased),
    CHECK (NOT leased OR lease_until IS NOT NULL),
    CHECK (state <> 'waiting' OR deadline IS NOT NULL),
    CHECK ((subject_kind IS NULL) = (subject_id IS NULL))
);

-- Through this index, and in its order, a claim finds its jobs.
CREATE INDEX towpath_job_ready ON towpath_job (queue, priority, pass, id) WHERE ready;
CREATE INDEX towpath_job_lane ON towpath_job (queue, priority, lane, pass) WHERE ready;
CREATE INDEX towpath_job_due ON towpath_job (run_at, id) WHERE run_at IS NOT NULL;
CREATE INDEX towpath_job_deadline ON towpath_job (deadline, id) WHERE deadline IS NOT NULL;
CREATE INDEX towpath_job_gated ON towpath_job (queue, lane, parked, priority, id) WHERE gate > 0;
CREATE INDEX towpath_job_family ON towpath_job (parent_id, child_group, id) WHERE parent_id IS NOT NULL;
CREATE INDEX towpath_job_failed ON towpath_job (operation, id) WHERE rare_state = 'failed';
CREATE INDEX towpath_job_rare ON towpath_job (rare_state, id) WHERE rare_state IS NOT NULL;
CREATE INDEX towpath_job_rare_of ON towpath_job (tenant, rare_state, id) WHERE rare_state IS NOT NULL;
CREATE INDEX towpath_job_subject ON towpath_job (subject_kind, subject_id, id) WHERE subject_kind IS NOT NULL;
-- Root jobs with a subject, in the order in which they will be begun. Places in line are counted with it, without reading
-- over the children of jobs that have begun. It ends with `subject_id`, where `job_ready` has `id`, so that only this index
-- has the order that the query `line_subjects` asks for, and the planner has no other choice.
CREATE INDEX towpath_job_in_line ON towpath_job (queue, priority, pass, subject_id)
    WHERE ready AND parent_id IS NULL AND subject_kind IS NOT NULL;
CREATE UNIQUE INDEX towpath_job_key ON towpath_job (tenant, operation, live_key) WHERE live_key IS NOT NULL;

-- Which jobs each tenant has, for lists by tenant. It is a table because on PostgreSQL an index on the job table would be
-- written again whenever a job is claimed.
CREATE TABLE towpath_owned (
    tenant text NOT NULL,
    id     text NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

-- A row for each job that is leased, and no others. The transaction that leases a job adds the row, and the one that ends
-- the lease removes it. To whom the job is leased, and until when, is in its own row.
--
-- It is a table because an index on `leased` would be dearer, here and even more on PostgreSQL (decision 0026 has the
-- figures).
CREATE TABLE towpath_lease (
    job_id text PRIMARY KEY NOT NULL,
    queue  text NOT NULL
) WITHOUT ROWID;

-- What happened to each job, numbered by `seq` without gaps. Most events have no row here, because the job's own row, which
-- is written in the same commit, says the same: that it was created (its event 1), that it was started for the first time
-- (if that is its event 2), and that it succeeded (if that is its last). The view `job_event` has these, too. Decision 0026
-- says what that saves.
CREATE TABLE towpath_event (
    job_id  text NOT NULL,
    seq     integer NOT NULL,
    attempt integer NOT NULL,
    name    text NOT NULL,
    level   text NOT NULL DEFAULT 'info',
    message text,
    fields  text,
    ts      REAL NOT NULL DEFAULT (unixepoch('subsec')),
    PRIMARY KEY (job_id, seq)
);

-- Which events were committed, and in which order, for streams. A row says that each of `jobs` got its event number `seq` in
-- the same transaction: one row is enough for many jobs. What the events are, is in `job_event`.
--
-- `xid` only counts the rows. Since transactions write one after the other here, that is the order of their commits.
CREATE TABLE towpath_event_batch (
    xid  integer PRIMARY KEY AUTOINCREMENT,
    ts   REAL NOT NULL DEFAULT (unixepoch('subsec')),
    seq  integer NOT NULL,
    jobs text NOT NULL
);

-- Jobs that were deleted: whose they were and what they worked on, so that streams can say that they are gone. The janitor
-- removes the row after eight days at the latest.
CREATE TABLE towpath_tombstone (
    job_id       text PRIMARY KEY NOT NULL,
    tenant       text NOT NULL,
    at           REAL NOT NULL,
    subject_kind text,
    subject_id   text
);
CREATE INDEX towpath_tombstone_at ON towpath_tombstone (at);

-- Things that jobs work on and that somebody has changed without a job, so that streams can tell; forgotten like tombstones.
CREATE TABLE towpath_notice (
    id           text PRIMARY KEY NOT NULL,
    tenant       text NOT NULL,
    at           REAL NOT NULL,
    subject_kind text NOT NULL,
    subject_id   text NOT NULL
);
CREATE INDEX towpath_notice_at ON towpath_notice (at);

-- Every event of every job, for histories and streams alike. A deleted job has one event left, which says so and has the
-- highest number there can be, 2147483647 (`DELETED_SEQ` of core/records.py). A notice is an event of no job, and stands here for streams alone.
CREATE VIEW towpath_job_event AS
SELECT job_id, seq, attempt, name, level, message, fields, ts FROM towpath_event
UNION ALL
SELECT id, 1, 0, 'job.created', 'info', NULL, NULL, created_at FROM towpath_job
UNION ALL
SELECT id, 2, 1, 'job.started', 'info', NULL, NULL, started_at FROM towpath_job AS job
WHERE seq > 1 AND started_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM towpath_event AS own WHERE own.job_id = job.id AND own.seq = 2)
UNION ALL
SELECT id, seq, attempt, 'job.succeeded', 'info', NULL, NULL, finished_at FROM towpath_job AS job
WHERE state = 'succeeded' AND NOT EXISTS (SELECT 1 FROM towpath_event AS own WHERE own.job_id = job.id AND own.seq = job.seq)
UNION ALL
SELECT job_id, 2147483647, 0, 'job.deleted', 'info', tenant,
       CASE WHEN subject_kind IS NOT NULL THEN json_object('kind', subject_kind, 'id', subject_id) END, at FROM towpath_tombstone
UNION ALL
SELECT id, 2147483647, 0, 'subject.changed', 'info', tenant, json_object('kind', subject_kind, 'id', subject_id), at
FROM towpath_notice;

-- Recorded steps. When a job is run again, a step that is done is not: it answers with its recorded output.
CREATE TABLE towpath_step (
    job_id      text NOT NULL,
    name        text NOT NULL,
    kind        text NOT NULL,
    ord         integer NOT NULL,
    done        boolean NOT NULL,
    output      text,
    attempt     integer NOT NULL,
    retries     integer NOT NULL DEFAULT 0,
    duration_ms REAL,
    model       text,
    tokens_in   integer,
    tokens_out  integer,
    cost_cents  REAL,
    until       REAL,
    created_at  REAL NOT NULL DEFAULT (unixepoch('subsec')),
    PRIMARY KEY (job_id, name)
);

-- Signals that were sent to jobs. `consumed_by` is the step that has received it, NULL while none has.
CREATE TABLE towpath_signal (
    id          text PRIMARY KEY,
    job_id      text NOT NULL,
    name        text NOT NULL,
    payload     text NOT NULL,
    consumed_by text,
    created_at  REAL NOT NULL DEFAULT (unixepoch('subsec'))
);
CREATE INDEX towpath_signal_pending ON towpath_signal (job_id, name, id) WHERE consumed_by IS NULL;
CREATE INDEX towpath_signal_job ON towpath_signal (job_id);

-- What each job has used of each model, in all of its attempts together.
CREATE TABLE towpath_job_usage (
    job_id           text NOT NULL,
    model            text NOT NULL,
    calls            integer NOT NULL,
    tokens_in        integer NOT NULL,
    tokens_out       integer NOT NULL,
    cost_cents       REAL NOT NULL,
    priced_calls     integer NOT NULL,
    unpriced_in      integer NOT NULL,
    unpriced_out     integer NOT NULL,
    unmeasured_calls integer NOT NULL,
    PRIMARY KEY (job_id, model)
) WITHOUT ROWID;

-- Requests to make a job that came with an Idempotency-Key, and the job that each of them made. The same request, sent
-- again, is answered with that job.
CREATE TABLE towpath_idempotency (
    tenant     text NOT NULL,
    operation  text NOT NULL,
    key        text NOT NULL,
    body_hash  text NOT NULL,
    job_id     text NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (tenant, operation, key)
) WITHOUT ROWID;
CREATE INDEX towpath_idempotency_created ON towpath_idempotency (created_at);

-- The weight of a lane in the fair order of its queue, and its cap on slots or on open root jobs. A lane without settings
-- has no row.
CREATE TABLE towpath_lane (
    queue      text NOT NULL,
    lane       text NOT NULL,
    weight     REAL NOT NULL DEFAULT 1 CHECK (weight > 0),
    max_slots  integer CHECK (max_slots >= 0),
    max_roots  integer CHECK (max_roots >= 0),
    updated_at REAL NOT NULL DEFAULT (unixepoch('subsec')),
    PRIMARY KEY (queue, lane),
    CHECK (max_slots IS NULL OR max_roots IS NULL)
);

-- Queues that were paused or capped. A queue without a row is neither.
CREATE TABLE towpath_queue (
    name      text PRIMARY KEY,
    paused    boolean NOT NULL DEFAULT false,
    paused_at REAL,
    max_slots integer CHECK (max_slots >= 0)
);

-- How far claims have come in the fair order, by queue and priority: the highest `pass` claimed so far (core/fairness.py).
-- The next job of a lane that has none waiting is placed there.
CREATE TABLE towpath_clock (
    queue    text NOT NULL,
    priority integer NOT NULL,
    floor    REAL NOT NULL,
    PRIMARY KEY (queue, priority)
);

-- Rate limits that jobs have run into, by the name of the budget. Other jobs that need it wait until `blocked_until`.
CREATE TABLE towpath_budget (
    name          text PRIMARY KEY,
    blocked_until REAL NOT NULL,
    reason        text
);

-- A worker as the others see it. Each heartbeat sets `alive_until` to the time at which the leases that it renews will end:
-- if there is no other heartbeat, the worker counts as alive until then. `process` names its process, so that a janitor on
-- the same machine can see whether it has ended. Decision 0021 says why that matters.
CREATE TABLE towpath_worker (
    id          text PRIMARY KEY,
    name        text NOT NULL,
    queues      text NOT NULL,
    operations  text NOT NULL,
    concurrency integer NOT NULL,
    running     integer NOT NULL DEFAULT 0,
    version     text NOT NULL,
    started_at  REAL NOT NULL,
    seen_at     REAL NOT NULL,
    stopped_at  REAL,
    alive_until REAL,
    process     text
);

-- Cron schedules. `origin` says who keeps one: the code of some process ('code'), or people ('people'). A schedule of code
-- lives as long as some process declares it. Each process has a row in `declared` for each of its schedules, and renews it
-- before `until`.
CREATE TABLE towpath_schedule (
    name        text PRIMARY KEY,
    cron        text NOT NULL,
    timezone    text NOT NULL,
    operation   text NOT NULL,
    queue       text NOT NULL,
    payload     text NOT NULL,
    tenant      text NOT NULL,
    priority    integer NOT NULL DEFAULT 1,
    max_attempts integer NOT NULL DEFAULT 3,
    paused      boolean NOT NULL DEFAULT false,
    next_fire   REAL NOT NULL,
    last_fire   REAL,
    last_job_id text,
    origin      text NOT NULL DEFAULT 'code' CHECK (origin IN ('code', 'people')),
    declared_at REAL
);
CREATE TABLE towpath_declared (
    name        text NOT NULL,
    declared_by text NOT NULL,
    until       REAL NOT NULL,
    PRIMARY KEY (name, declared_by)
) WITHOUT ROWID;

-- What each transaction changed in the counts: a row for each queue and operation. The janitor adds the rows up in the
-- tables below, and removes them. So pages need not count the jobs, and transactions need not wait for each other at a
-- counter (decision 0007).
CREATE TABLE towpath_count_delta (
    at           REAL NOT NULL DEFAULT (unixepoch('subsec')),
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
    wait_seconds REAL NOT NULL DEFAULT 0,
    run_seconds  REAL NOT NULL DEFAULT 0,
    -- How long each counted job waited and ran, in seconds; the janitor counts them in the histograms below.
    waits        text,
    runs         text
);

-- Counts by the minute, for charts. What is older than two days is folded into hours, here and in the tables by the quarter
-- of an hour; `upkeep` says how far that has come.
CREATE TABLE towpath_rollup (
    queue        text NOT NULL,
    operation    text NOT NULL,
    minute       REAL NOT NULL,
    created      integer NOT NULL,
    started      integer NOT NULL,
    succeeded    integer NOT NULL,
    partial      integer NOT NULL,
    failed       integer NOT NULL,
    cancelled    integer NOT NULL,
    retried      integer NOT NULL,
    wait_seconds REAL NOT NULL,
    run_seconds  REAL NOT NULL,
    PRIMARY KEY (queue, operation, minute)
);
CREATE INDEX towpath_rollup_minute ON towpath_rollup (minute);

CREATE TABLE towpath_upkeep (
    name       text PRIMARY KEY,
    done_until REAL
);
INSERT INTO towpath_upkeep (name) VALUES ('rollups');

-- How many jobs each queue has now, but for the count deltas that have not been added yet.
CREATE TABLE towpath_depth (
    queue   text PRIMARY KEY,
    queued  integer NOT NULL,
    running integer NOT NULL,
    waiting integer NOT NULL
);

-- How long jobs waited and ran: how many were in each bucket of durations (core/histogram.py), by the quarter of an hour,
-- and for a few hours by the minute as well.
CREATE TABLE towpath_histogram (
    queue     text NOT NULL,
    operation text NOT NULL,
    quarter   REAL NOT NULL,
    what      text NOT NULL CHECK (what IN ('wait', 'run')),
    bucket    integer NOT NULL,
    jobs      integer NOT NULL,
    PRIMARY KEY (queue, operation, quarter, what, bucket)
);
CREATE INDEX towpath_histogram_quarter ON towpath_histogram (quarter);
CREATE TABLE towpath_histogram_minute (
    queue     text NOT NULL,
    operation text NOT NULL,
    minute    REAL NOT NULL,
    what      text NOT NULL CHECK (what IN ('wait', 'run')),
    bucket    integer NOT NULL,
    jobs      integer NOT NULL,
    PRIMARY KEY (queue, operation, minute, what, bucket)
);
CREATE INDEX towpath_histogram_minute_minute ON towpath_histogram_minute (minute);

-- Counts since the first job, for metrics, which must only ever rise: they are never pruned.
CREATE TABLE towpath_lifetime (
    queue        text NOT NULL,
    operation    text NOT NULL,
    created      integer NOT NULL,
    started      integer NOT NULL,
    succeeded    integer NOT NULL,
    partial      integer NOT NULL,
    failed       integer NOT NULL,
    cancelled    integer NOT NULL,
    retried      integer NOT NULL,
    wait_seconds REAL NOT NULL,
    run_seconds  REAL NOT NULL,
    PRIMARY KEY (queue, operation)
);
CREATE TABLE towpath_lifetime_histogram (
    queue     text NOT NULL,
    operation text NOT NULL,
    what      text NOT NULL CHECK (what IN ('wait', 'run')),
    bucket    integer NOT NULL,
    jobs      integer NOT NULL,
    PRIMARY KEY (queue, operation, what, bucket)
);

-- Calls of models, what they used and what they cost. `usage_delta` is written with the calls and added up like
-- `count_delta`: in `usage` by the quarter of an hour, which later becomes hours, and for a few hours in `spend` by the
-- minute.
CREATE TABLE towpath_usage_delta (
    at               REAL NOT NULL DEFAULT (unixepoch('subsec')),
    tenant           text NOT NULL,
    queue            text NOT NULL,
    operation        text NOT NULL,
    model            text NOT NULL,
    calls            integer NOT NULL,
    tokens_in        integer NOT NULL,
    tokens_out       integer NOT NULL,
    cost_cents       REAL NOT NULL,
    priced_calls     integer NOT NULL,
    unpriced_in      integer NOT NULL,
    unpriced_out     integer NOT NULL,
    unmeasured_calls integer NOT NULL
);
CREATE TABLE towpath_usage (
    tenant           text NOT NULL,
    quarter          REAL NOT NULL,
    queue            text NOT NULL,
    operation        text NOT NULL,
    model            text NOT NULL,
    calls            integer NOT NULL,
    tokens_in        integer NOT NULL,
    tokens_out       integer NOT NULL,
    cost_cents       REAL NOT NULL,
    priced_calls     integer NOT NULL,
    unpriced_in      integer NOT NULL,
    unpriced_out     integer NOT NULL,
    unmeasured_calls integer NOT NULL,
    PRIMARY KEY (tenant, quarter, queue, operation, model)
);
CREATE INDEX towpath_usage_quarter ON towpath_usage (quarter);
CREATE TABLE towpath_spend (
    minute           REAL NOT NULL,
    tenant           text NOT NULL,
    queue            text NOT NULL,
    operation        text NOT NULL,
    model            text NOT NULL,
    calls            integer NOT NULL,
    tokens_in        integer NOT NULL,
    tokens_out       integer NOT NULL,
    cost_cents       REAL NOT NULL,
    priced_calls     integer NOT NULL,
    unpriced_in      integer NOT NULL,
    unpriced_out     integer NOT NULL,
    unmeasured_calls integer NOT NULL,
    PRIMARY KEY (minute, tenant, queue, operation, model)
);

-- What a million tokens of a model cost, for calls that came without a cost of their own.
CREATE TABLE towpath_price (
    model                    text PRIMARY KEY,
    input_per_million_cents  REAL NOT NULL CHECK (input_per_million_cents >= 0),
    output_per_million_cents REAL NOT NULL CHECK (output_per_million_cents >= 0),
    updated_at               REAL NOT NULL DEFAULT (unixepoch('subsec'))
);

-- How busy workers were. Every few seconds their heartbeats are looked at and added up here; divided by `samples`, the
-- number of looks, the columns are averages.
CREATE TABLE towpath_occupancy (
    minute      REAL PRIMARY KEY,
    samples     integer NOT NULL,
    workers     integer NOT NULL,
    concurrency integer NOT NULL,
    running     integer NOT NULL
);

-- Views for reports and dashboards. Their columns are described in docs/reference/sql-views.md, and later releases keep
-- them. Times are text in UTC, as SQLite's own date functions write them.
CREATE VIEW towpath_v_throughput AS
SELECT queue, operation, strftime('%Y-%m-%d %H:%M:%S', minute, 'unixepoch') AS minute, created, started, succeeded, partial,
       failed, cancelled, retried, succeeded + partial + failed + cancelled AS ended, wait_seconds, run_seconds
FROM towpath_rollup;

CREATE VIEW towpath_v_latency AS
SELECT queue, operation, strftime('%Y-%m-%d %H:%M:%S', hour, 'unixepoch') AS hour, what, jobs,
       CASE b50 WHEN 0 THEN 0.0005 ELSE 0.001 * power(2, (b50 - 0.5) / 4) END AS p50_seconds,
       CASE b95 WHEN 0 THEN 0.0005 ELSE 0.001 * power(2, (b95 - 0.5) / 4) END AS p95_seconds,
       CASE b99 WHEN 0 THEN 0.0005 ELSE 0.001 * power(2, (b99 - 0.5) / 4) END AS p99_seconds
FROM (
    SELECT queue, operation, hour, what, max(total) AS jobs, min(bucket) FILTER (WHERE seen >= 0.50 * total) AS b50,
           min(bucket) FILTER (WHERE seen >= 0.95 * total) AS b95, min(bucket) FILTER (WHERE seen >= 0.99 * total) AS b99
    FROM (
        SELECT queue, operation, hour, what, bucket,
               sum(jobs) OVER (PARTITION BY queue, operation, hour, what ORDER BY bucket) AS seen,
               sum(jobs) OVER (PARTITION BY queue, operation, hour, what) AS total
        FROM (SELECT queue, operation, floor(quarter / 3600) * 3600 AS hour, what, bucket, sum(jobs) AS jobs
              FROM towpath_histogram GROUP BY 1, 2, 3, 4, 5) AS hourly
    ) AS ranked
    GROUP BY queue, operation, hour, what
) AS placed;

CREATE VIEW towpath_v_failures AS
SELECT queue, operation, strftime('%Y-%m-%d %H:00:00', minute, 'unixepoch') AS hour, sum(started) AS started,
       sum(succeeded + partial + failed + cancelled) AS ended, sum(failed) AS failed, sum(retried) AS retried,
       CAST(sum(failed) AS REAL) / nullif(sum(succeeded + partial + failed + cancelled), 0) AS failure_rate,
       CAST(sum(retried) AS REAL) / nullif(sum(started), 0) AS retry_rate
FROM towpath_rollup GROUP BY 1, 2, 3;

CREATE VIEW towpath_v_causes AS
SELECT tenant, operation, error_kind AS kind, error_group AS cause, count(*) AS jobs,
       strftime('%Y-%m-%d %H:%M:%f', min(finished_at), 'unixepoch') AS first_at,
       strftime('%Y-%m-%d %H:%M:%f', max(finished_at), 'unixepoch') AS last_at
FROM towpath_job WHERE rare_state = 'failed' AND error_kind <> 'children'
GROUP BY tenant, operation, error_kind, error_group;

CREATE VIEW towpath_v_usage AS
SELECT u.tenant, u.queue, u.operation, nullif(u.model, '') AS model, u.hour, u.calls, u.tokens_in, u.tokens_out,
       CASE WHEN u.priced_calls > 0 OR (p.model IS NOT NULL AND u.calls > u.priced_calls + u.unmeasured_calls)
            THEN u.cost_cents + coalesce((u.unpriced_in * p.input_per_million_cents
                                          + u.unpriced_out * p.output_per_million_cents) / 1000000, 0) END AS cost_cents,
       u.unmeasured_calls > 0 OR (p.model IS NULL AND u.calls > u.priced_calls + u.unmeasured_calls) AS unpriced
FROM (SELECT tenant, queue, operation, model, strftime('%Y-%m-%d %H:00:00', quarter, 'unixepoch') AS hour,
             sum(calls) AS calls, sum(tokens_in) AS tokens_in, sum(tokens_out) AS tokens_out,
             sum(cost_cents) AS cost_cents, sum(priced_calls) AS priced_calls, sum(unpriced_in) AS unpriced_in,
             sum(unpriced_out) AS unpriced_out, sum(unmeasured_calls) AS unmeasured_calls
      FROM towpath_usage GROUP BY 1, 2, 3, 4, 5) AS u
LEFT JOIN towpath_price AS p ON p.model = u.model;

CREATE VIEW towpath_v_queues AS
SELECT n.name AS queue, coalesce(sum(d.queued), 0) AS queued, coalesce(sum(d.running), 0) AS running,
       coalesce(sum(d.waiting), 0) AS waiting, coalesce(max(q.paused), 0) AS paused, max(q.max_slots) AS max_slots
FROM (SELECT queue AS name FROM towpath_depth UNION SELECT queue FROM towpath_count_delta UNION SELECT name FROM towpath_queue) AS n
LEFT JOIN (SELECT queue, queued, running, waiting FROM towpath_depth
           UNION ALL SELECT queue, queued, running, waiting FROM towpath_count_delta) AS d ON d.queue = n.name
LEFT JOIN towpath_queue AS q ON q.name = n.name
GROUP BY n.name;

CREATE VIEW towpath_v_workers AS
SELECT id, name, queues, operations, concurrency, running, version,
       strftime('%Y-%m-%d %H:%M:%f', started_at, 'unixepoch') AS started_at,
       strftime('%Y-%m-%d %H:%M:%f', seen_at, 'unixepoch') AS seen_at,
       strftime('%Y-%m-%d %H:%M:%f', stopped_at, 'unixepoch') AS stopped_at,
       stopped_at IS NULL AND coalesce(alive_until, seen_at + 60) > (julianday('now') - 2440587.5) * 86400
       AND seen_at <= (julianday('now') - 2440587.5) * 86400 + 5 AS alive
FROM towpath_worker;

CREATE VIEW towpath_v_efficiency AS
SELECT strftime('%Y-%m-%d %H:%M:%S', minute, 'unixepoch') AS minute, CAST(workers AS REAL) / samples AS workers,
       CAST(concurrency AS REAL) / samples AS concurrency, CAST(running AS REAL) / samples AS running,
       CAST(running AS REAL) / nullif(concurrency, 0) AS busy_ratio
FROM towpath_occupancy;

CREATE VIEW towpath_v_jobs AS
SELECT id, queue, operation, tenant, lane, priority, cost, state, reason, key, subject_kind, subject_id, parent_id, root_id,
       attempt AS entries, failures, max_attempts, steps, children_total, children_ok, children_partial, children_bad,
       progress_current, progress_total, error_kind, error_group AS error_cause, worker_id,
       strftime('%Y-%m-%d %H:%M:%f', created_at, 'unixepoch') AS created_at,
       strftime('%Y-%m-%d %H:%M:%f', run_at, 'unixepoch') AS run_at,
       strftime('%Y-%m-%d %H:%M:%f', deadline, 'unixepoch') AS deadline,
       strftime('%Y-%m-%d %H:%M:%f', started_at, 'unixepoch') AS started_at,
       strftime('%Y-%m-%d %H:%M:%f', finished_at, 'unixepoch') AS finished_at,
       started_at - created_at AS wait_seconds, finished_at - started_at AS run_seconds
FROM towpath_job;

-- What was ordered from batch providers: a row for each job that there is at one of them, or may be.
-- `name` and `part` say which order of its job it is. One that was dropped with its job's records counts no more.
CREATE TABLE towpath_provider_job (
    id                 text PRIMARY KEY,
    job_id             text NOT NULL,
    name               text NOT NULL,
    part               integer NOT NULL,
    dropped            boolean NOT NULL DEFAULT false,
    tenant             text NOT NULL,
    provider           text NOT NULL,
    model              text NOT NULL,
    shard              integer NOT NULL DEFAULT 0,
    key                text NOT NULL UNIQUE,
    ordered            text NOT NULL,
    state              text NOT NULL,
    prepared           text,
    called_at          REAL,
    external_id        text,
    status             text,
    polls              integer NOT NULL DEFAULT 0,
    transient_failures integer NOT NULL DEFAULT 0,
    answer             text,
    error              text,
    output_uri         text,
    polled_at          REAL,
    -- When its provider had it polled at once.
    told_at            REAL,
    next_poll_at       REAL,
    deadline           REAL,
    created_at         REAL NOT NULL DEFAULT (unixepoch('subsec')),
    submitted_at       REAL,
    ended_at           REAL
);
CREATE UNIQUE INDEX towpath_provider_job_part ON towpath_provider_job (job_id, name, part) WHERE NOT dropped;
CREATE INDEX towpath_provider_job_job ON towpath_provider_job (job_id);
-- Only jobs that are polled have a time for it, so looking for those that are due costs what is due.
CREATE INDEX towpath_provider_job_due ON towpath_provider_job (next_poll_at) WHERE next_poll_at IS NOT NULL;
CREATE INDEX towpath_provider_job_external ON towpath_provider_job (provider, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX towpath_provider_job_unknown ON towpath_provider_job (id) WHERE state = 'unknown';

-- How much may be spent, in cents: by a tenant in a month or ever, or by one run (a root job and what it makes).
CREATE TABLE towpath_spend_limit (
    scope      text NOT NULL,
    name       text NOT NULL,
    cents      REAL NOT NULL,
    period     text NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (scope, name)
);
-- What has been spent or is held back for work that is under way, by whom and in which period.
CREATE TABLE towpath_spend_account (
    scope  text NOT NULL,
    name   text NOT NULL,
    period text NOT NULL,
    cents  REAL NOT NULL,
    PRIMARY KEY (scope, name, period)
);
-- One entry for each thing that costs: first what it may cost, then what it did.
CREATE TABLE towpath_expense (
    job_id     text NOT NULL,
    name       text NOT NULL,
    tenant     text NOT NULL,
    run        text NOT NULL,
    month      text NOT NULL,
    cents      REAL NOT NULL,
    settled    boolean NOT NULL DEFAULT false,
    created_at REAL NOT NULL,
    PRIMARY KEY (job_id, name)
);
-- Jobs that found too little money. They are listed before they wait, so that nobody who brings some misses them.
CREATE TABLE towpath_spend_waiter (
    job_id text PRIMARY KEY,
    tenant text NOT NULL
);
CREATE INDEX towpath_spend_waiter_tenant ON towpath_spend_waiter (tenant);
