-- Whose jobs are whose, for lists by tenant. It is a table and not an index of the job table because it is written once,
-- when a job is made: an index would be written again with every claim and settle.
CREATE TABLE towpath_owned (
    tenant text NOT NULL,
    id     text NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
INSERT INTO towpath_owned (tenant, id) SELECT tenant, id FROM towpath_job;

-- When a scheduled job was to begin: how long it waited is counted from then.
ALTER TABLE towpath_job ADD COLUMN due_at REAL;

-- How long each counted job waited and ran, in seconds; the janitor folds them into histograms: by the quarter of an hour,
-- and for a few hours by the minute as well.
ALTER TABLE towpath_tally ADD COLUMN waits text;
ALTER TABLE towpath_tally ADD COLUMN runs text;
CREATE TABLE towpath_histogram (
    queue     text NOT NULL,
    operation text NOT NULL,
    quarter   REAL NOT NULL,
    what      text NOT NULL CHECK (what IN ('wait', 'run')),
    bucket    integer NOT NULL,
    jobs      integer NOT NULL,
    PRIMARY KEY (queue, operation, quarter, what, bucket)
);
CREATE TABLE towpath_histogram_minute (
    queue     text NOT NULL,
    operation text NOT NULL,
    minute    REAL NOT NULL,
    what      text NOT NULL CHECK (what IN ('wait', 'run')),
    bucket    integer NOT NULL,
    jobs      integer NOT NULL,
    PRIMARY KEY (queue, operation, minute, what, bucket)
);

-- Lists by state: for states that a job of the hot path never has, so that it pays nothing for them.
CREATE INDEX towpath_job_rare ON towpath_job (state, id) WHERE state IN ('waiting', 'partial', 'failed', 'cancelled');
CREATE INDEX towpath_job_rare_of ON towpath_job (tenant, state, id)
    WHERE state IN ('waiting', 'partial', 'failed', 'cancelled');

-- Requests to make a job that carried an Idempotency-Key, and the job that each of them made.
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

-- Jobs that are gone, so that streams of events can tell; the janitor forgets them after a while.
CREATE TABLE towpath_tombstone (
    id     integer PRIMARY KEY AUTOINCREMENT,
    job_id text NOT NULL UNIQUE,
    tenant text NOT NULL,
    at     REAL NOT NULL
);
CREATE INDEX towpath_tombstone_at ON towpath_tombstone (at);

-- Charts ask for a span of time; after two days minutes and quarters are folded into hours, and `upkeep` knows how far that has come.
CREATE INDEX towpath_rollup_minute ON towpath_rollup (minute);
CREATE INDEX towpath_histogram_quarter ON towpath_histogram (quarter);
CREATE INDEX towpath_histogram_minute_minute ON towpath_histogram_minute (minute);
CREATE TABLE towpath_upkeep (
    name       text PRIMARY KEY,
    done_until REAL
);
INSERT INTO towpath_upkeep (name) VALUES ('rollups');

-- Counts since the first job: what a metrics scraper wants, and what no pruning may take away.
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
INSERT INTO towpath_lifetime
SELECT queue, operation, sum(created), sum(started), sum(succeeded), sum(partial), sum(failed), sum(cancelled), sum(retried),
       sum(wait_seconds), sum(run_seconds)
FROM towpath_rollup GROUP BY queue, operation;
CREATE TABLE towpath_lifetime_histogram (
    queue     text NOT NULL,
    operation text NOT NULL,
    what      text NOT NULL CHECK (what IN ('wait', 'run')),
    bucket    integer NOT NULL,
    jobs      integer NOT NULL,
    PRIMARY KEY (queue, operation, what, bucket)
);

-- What models were used for: written with the step that used them, compacted like the tally, by the quarter of an hour
-- and, for a few hours, by the minute as well. Quarters are folded into hours like minutes.
CREATE TABLE towpath_usage_tally (
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
INSERT INTO towpath_usage
SELECT job.tenant, floor(step.created_at / 3600) * 3600, job.queue, job.operation, coalesce(step.model, ''), count(*),
       coalesce(sum(step.tokens_in), 0), coalesce(sum(step.tokens_out), 0), coalesce(sum(step.cost_cents), 0),
       count(step.cost_cents),
       coalesce(sum(step.tokens_in) FILTER (WHERE step.cost_cents IS NULL), 0),
       coalesce(sum(step.tokens_out) FILTER (WHERE step.cost_cents IS NULL), 0),
       count(*) FILTER (WHERE step.cost_cents IS NULL AND step.tokens_in IS NULL AND step.tokens_out IS NULL)
FROM towpath_step AS step JOIN towpath_job AS job ON job.id = step.job_id
WHERE step.model IS NOT NULL OR step.tokens_in IS NOT NULL OR step.tokens_out IS NOT NULL OR step.cost_cents IS NOT NULL
GROUP BY 1, 2, 3, 4, 5;

-- What a million tokens cost where a call did not say so itself.
CREATE TABLE towpath_price (
    model                    text PRIMARY KEY,
    input_per_million_cents  REAL NOT NULL CHECK (input_per_million_cents >= 0),
    output_per_million_cents REAL NOT NULL CHECK (output_per_million_cents >= 0),
    updated_at               REAL NOT NULL DEFAULT (unixepoch('subsec'))
);

-- How many slots were taken, as the workers' heartbeats told: sums over `samples` looks.
CREATE TABLE towpath_occupancy (
    minute      REAL PRIMARY KEY,
    samples     integer NOT NULL,
    workers     integer NOT NULL,
    concurrency integer NOT NULL,
    running     integer NOT NULL
);

-- For reports and dashboards. Their columns are described in docs/reference/sql-views.md and stay as they are. Times are
-- text in UTC, as SQLite's own date functions write them.
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
FROM towpath_job WHERE state = 'failed' AND error_kind <> 'children'
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
FROM (SELECT queue AS name FROM towpath_depth UNION SELECT queue FROM towpath_tally UNION SELECT name FROM towpath_queue) AS n
LEFT JOIN (SELECT queue, queued, running, waiting FROM towpath_depth
           UNION ALL SELECT queue, queued, running, waiting FROM towpath_tally) AS d ON d.queue = n.name
LEFT JOIN towpath_queue AS q ON q.name = n.name
GROUP BY n.name;

CREATE VIEW towpath_v_workers AS
SELECT id, name, queues, operations, concurrency, running, version,
       strftime('%Y-%m-%d %H:%M:%f', started_at, 'unixepoch') AS started_at,
       strftime('%Y-%m-%d %H:%M:%f', seen_at, 'unixepoch') AS seen_at,
       strftime('%Y-%m-%d %H:%M:%f', stopped_at, 'unixepoch') AS stopped_at,
       stopped_at IS NULL AND seen_at > (julianday('now') - 2440587.5) * 86400 - 60 AS alive
FROM towpath_worker;

CREATE VIEW towpath_v_efficiency AS
SELECT strftime('%Y-%m-%d %H:%M:%S', minute, 'unixepoch') AS minute, CAST(workers AS REAL) / samples AS workers,
       CAST(concurrency AS REAL) / samples AS concurrency, CAST(running AS REAL) / samples AS running,
       CAST(running AS REAL) / nullif(concurrency, 0) AS busy_ratio
FROM towpath_occupancy;

CREATE VIEW towpath_v_jobs AS
SELECT id, queue, operation, tenant, lane, priority, cost, state, reason, key, parent_id, root_id, attempt AS entries, failures,
       max_attempts, steps, children_total, children_ok, children_partial, children_bad, progress_current, progress_total,
       error_kind, error_group AS error_cause, worker_id,
       strftime('%Y-%m-%d %H:%M:%f', created_at, 'unixepoch') AS created_at,
       strftime('%Y-%m-%d %H:%M:%f', run_at, 'unixepoch') AS run_at,
       strftime('%Y-%m-%d %H:%M:%f', deadline, 'unixepoch') AS deadline,
       strftime('%Y-%m-%d %H:%M:%f', started_at, 'unixepoch') AS started_at,
       strftime('%Y-%m-%d %H:%M:%f', finished_at, 'unixepoch') AS finished_at,
       started_at - created_at AS wait_seconds, finished_at - started_at AS run_seconds
FROM towpath_job;
