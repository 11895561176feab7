-- A job. There are hardly any conditions on its columns, because the database would read them anew from their text with every
-- statement (decisions 0018 and 0025): the moves keep them, and the tests look at every row they have touched.
--
-- The primary key is the only full index. No index names `state` or `leased`, so a plain success touches none at all. What such an
-- index would be for is told by columns that a plain job never sets: `rare_state` is the state if it is one that few jobs are in,
-- `live_key` is the key while it is held, `gate` is negative when an ended job no longer counts for its lane, `run_at` and
-- `deadline` are only set while a job is scheduled or waits. Columns that heartbeats and progress write are in no index.
--
-- `due_at` is when a scheduled job was to begin: how long it waited is counted from then. The subject is what it works on: kind
-- and id of a thing of some product, or neither.
-- `created_xid` and `started_xid` are the transactions of those two events, if its row is all that tells of them.
--
-- Of each page half is left free: room for both new versions of a row beside it.
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

-- A claim reads this one, which is in its order.
CREATE INDEX job_ready ON towpath.job (queue, priority, pass, id) WHERE ready;
-- It must not look like another way to claim, with a sort of everything that waits: whoever asks for one lane implies the second
-- condition, a claim does not (decision 0022).
CREATE INDEX job_lane ON towpath.job (queue, priority, lane, pass) WHERE ready AND lane IS NOT NULL;
CREATE INDEX job_due ON towpath.job (run_at, id) WHERE run_at IS NOT NULL;
CREATE INDEX job_deadline ON towpath.job (deadline, id) WHERE deadline IS NOT NULL;
CREATE INDEX job_gated ON towpath.job (queue, lane, parked, priority, id) WHERE gate > 0;
CREATE INDEX job_family ON towpath.job (parent_id, child_group, id) WHERE parent_id IS NOT NULL;
CREATE INDEX job_failed ON towpath.job (operation, id) WHERE rare_state = 'failed';
CREATE INDEX job_rare ON towpath.job (rare_state, id) WHERE rare_state IS NOT NULL;
CREATE INDEX job_rare_of ON towpath.job (tenant, rare_state, id) WHERE rare_state IS NOT NULL;
CREATE INDEX job_subject ON towpath.job (subject_kind, subject_id, id) WHERE subject_kind IS NOT NULL;
-- Jobs with a subject in the order in which they are begun, without the parts of those that are: so that a place in line is
-- counted without walking through the parts. `subject_id` is there so that its order is its own, and no other index has it.
CREATE INDEX job_in_line ON towpath.job (queue, priority, pass, subject_id)
    WHERE ready AND parent_id IS NULL AND subject_kind IS NOT NULL;
CREATE UNIQUE INDEX job_key ON towpath.job (tenant, operation, live_key) WHERE live_key IS NOT NULL;

-- Whose jobs are whose, for lists by tenant. It is a table and not an index of the job table because it is written once,
-- when a job is made: an index would be written again with every claim and settle.
CREATE TABLE towpath.owned (
    tenant text NOT NULL,
    id     uuid NOT NULL,
    PRIMARY KEY (tenant, id)
);

-- The jobs that are leased, and no others: whoever gives a lease adds the row in the same statement or transaction that writes it to
-- the job, and whoever ends it takes the row away. It is a table and not an index of the job table because such an index would
-- have every settle write to the primary key as well. Decision 0026 says what it costs.
CREATE TABLE towpath.lease (
    job_id uuid PRIMARY KEY,
    queue  text NOT NULL
);

-- What happened to a job, by `seq` without gaps. Nearly all events say that a job was created, was started for the first time, as
-- its second event, or has succeeded, as its last. The job's own row says the same, written in the same commit, and those have no
-- row here; see `job_event`. Decision 0026 says what that gains.
--
-- `xid` is the transaction that wrote it. One that began earlier may commit later, and streams keep a job's events in order.
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

-- Which events were committed, for streams: each of `jobs` got its event number `seq`. A row per number and commit, however many
-- jobs it is about; what the events say is in `job_event`.
CREATE TABLE towpath.event_batch (
    xid  xid8 NOT NULL DEFAULT pg_current_xact_id(),
    ts   timestamptz NOT NULL DEFAULT now(),
    seq  integer NOT NULL,
    jobs uuid[] NOT NULL
) WITH (toast_tuple_target = 8160); -- some 500 jobs stay in the row itself
CREATE INDEX event_batch_xid ON towpath.event_batch (xid);

-- Jobs that are gone, whose they were and what they worked on, so that streams can tell; the janitor forgets them after a while.
CREATE TABLE towpath.tombstone (
    job_id       uuid PRIMARY KEY,
    tenant       text NOT NULL,
    at           timestamptz NOT NULL,
    subject_kind text,
    subject_id   text
);
CREATE INDEX tombstone_at ON towpath.tombstone (at);

-- Every event of every job, for histories and streams alike. What is left of a deleted job is that it was deleted.
-- The number of that event, 2147483647, is `DELETED_SEQ` of core/records.py.
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
       CASE WHEN subject_kind IS NOT NULL THEN json_build_object('kind', subject_kind, 'id', subject_id) END, at FROM towpath.tombstone;

-- Recorded steps: the output of each answers every later entry of its job.
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

-- What each job has used, by model, all its attempts together.
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

-- Requests to make a job that carried an Idempotency-Key, and the job that each of them made.
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

-- A lane's share of its queue, and its cap on slots or on open root jobs.
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

CREATE TABLE towpath.queue (
    name      text PRIMARY KEY,
    paused    boolean NOT NULL DEFAULT false,
    paused_at timestamptz,
    max_slots integer CHECK (max_slots >= 0)
);

-- How far claims have come, by queue and priority: where the next job of an idle lane is placed.
CREATE TABLE towpath.clock (
    queue    text NOT NULL,
    priority smallint NOT NULL,
    floor    float8 NOT NULL,
    PRIMARY KEY (queue, priority)
) WITH (fillfactor = 50);

CREATE TABLE towpath.budget (
    name          text PRIMARY KEY,
    blocked_until timestamptz NOT NULL,
    reason        text
);

-- A worker as the others see it. `alive_until` is until when it is taken to be alive if nothing more is heard of it: as long as
-- the leases of its jobs, which it says with every beat. `process` is which process it is, for others on the same machine.
-- Decision 0021 says what for.
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

-- `origin` is who keeps a schedule: the code of some process ('code'), or people ('people'). What code declares lives as long as a
-- process that declares it: each lists what it declares, and says so again now and then.
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

-- What every transaction changed in the counts, one row per queue and operation, compacted by the janitor into the
-- tables below: pages read those, never the jobs, and no counter row is shared on the hot path.
CREATE TABLE towpath.tally (
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
    -- How long each counted job waited and ran, in seconds; the janitor folds them into the histograms below.
    waits        real[],
    runs         real[]
);

-- Counts by the minute. Charts ask for a span of time; after two days minutes and quarters are folded into hours, and `upkeep`
-- knows how far that has come.
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

-- How many jobs each queue has now.
CREATE TABLE towpath.depth (
    queue   text PRIMARY KEY,
    queued  bigint NOT NULL,
    running bigint NOT NULL,
    waiting bigint NOT NULL
);

-- How long jobs waited and ran: by the quarter of an hour, and for a few hours by the minute as well.
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

-- Counts since the first job: what a metrics scraper wants, and what no pruning may take away.
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

-- What models were used for: written with the step that used them, compacted like the tally, by the quarter of an hour
-- and, for a few hours, by the minute as well. Quarters are folded into hours like minutes.
CREATE TABLE towpath.usage_tally (
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

-- What a million tokens cost where a call did not say so itself.
CREATE TABLE towpath.price (
    model                    text PRIMARY KEY,
    input_per_million_cents  float8 NOT NULL CHECK (input_per_million_cents >= 0),
    output_per_million_cents float8 NOT NULL CHECK (output_per_million_cents >= 0),
    updated_at               timestamptz NOT NULL DEFAULT now()
);

-- How many slots were taken, as the workers' heartbeats told: sums over `samples` looks.
CREATE TABLE towpath.occupancy (
    minute      timestamptz PRIMARY KEY,
    samples     bigint NOT NULL,
    workers     bigint NOT NULL,
    concurrency bigint NOT NULL,
    running     bigint NOT NULL
);

-- For reports and dashboards. Their columns are described in docs/reference/sql-views.md and stay as they are.
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
FROM (SELECT queue AS name FROM towpath.depth UNION SELECT queue FROM towpath.tally UNION SELECT name FROM towpath.queue) AS n
LEFT JOIN (SELECT queue, queued, running, waiting FROM towpath.depth
           UNION ALL SELECT queue, queued, running, waiting FROM towpath.tally) AS d ON d.queue = n.name
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
