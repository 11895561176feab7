-- Whose jobs are whose, for lists by tenant. It is a table and not an index of the job table because it is written once,
-- when a job is made: an index would be written again with every claim and settle.
CREATE TABLE towpath.owned (
    tenant text NOT NULL,
    id     uuid NOT NULL,
    PRIMARY KEY (tenant, id)
);
INSERT INTO towpath.owned (tenant, id) SELECT tenant, id FROM towpath.job;

-- When a scheduled job was to begin: how long it waited is counted from then.
ALTER TABLE towpath.job ADD COLUMN due_at timestamptz;

-- How long each counted job waited and ran, in seconds; the janitor folds them into histograms: by the quarter of an hour,
-- and for a few hours by the minute as well.
ALTER TABLE towpath.tally ADD COLUMN waits real[];
ALTER TABLE towpath.tally ADD COLUMN runs real[];
CREATE TABLE towpath.histogram (
    queue     text NOT NULL,
    operation text NOT NULL,
    quarter   timestamptz NOT NULL,
    what      text NOT NULL CHECK (what IN ('wait', 'run')),
    bucket    integer NOT NULL,
    jobs      bigint NOT NULL,
    PRIMARY KEY (queue, operation, quarter, what, bucket)
);
CREATE TABLE towpath.histogram_minute (
    queue     text NOT NULL,
    operation text NOT NULL,
    minute    timestamptz NOT NULL,
    what      text NOT NULL CHECK (what IN ('wait', 'run')),
    bucket    integer NOT NULL,
    jobs      bigint NOT NULL,
    PRIMARY KEY (queue, operation, minute, what, bucket)
);

-- As before, and it tells whose the job is.
CREATE OR REPLACE FUNCTION towpath.enqueue(
    operation text, payload json DEFAULT 'null', queue text DEFAULT 'default', tenant text DEFAULT 'default',
    lane text DEFAULT NULL, priority integer DEFAULT 1, cost float8 DEFAULT 1, run_at timestamptz DEFAULT NULL,
    key text DEFAULT NULL, max_attempts integer DEFAULT 3, trace text DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    new_id uuid := towpath.uuid7();
    in_lane text := coalesce(enqueue.lane, enqueue.tenant);
    due timestamptz := CASE WHEN enqueue.run_at > now() THEN enqueue.run_at END;
    floor float8;
    tail float8;
    weight float8 := 1;
    gate smallint := 0;
    is_ready boolean;
    found_id uuid;
BEGIN
    SELECT l.weight, CASE WHEN l.max_slots IS NOT NULL THEN 1 WHEN l.max_roots IS NOT NULL THEN 2 ELSE 0 END
    INTO weight, gate FROM towpath.lane AS l WHERE l.queue = enqueue.queue AND l.lane = in_lane;
    weight := coalesce(weight, 1);
    gate := coalesce(gate, 0);
    SELECT coalesce(max(c.floor), 0) INTO floor FROM towpath.clock AS c
    WHERE c.queue = enqueue.queue AND c.priority = enqueue.priority;
    SELECT j.pass INTO tail FROM towpath.job AS j
    WHERE j.queue = enqueue.queue AND j.priority = enqueue.priority AND j.lane = in_lane AND j.ready AND j.pass >= floor
    ORDER BY j.pass DESC LIMIT 1;
    is_ready := due IS NULL AND gate = 0;
    LOOP
        INSERT INTO towpath.job (id, queue, operation, tenant, lane, priority, cost, pass, root_id, key, ready, gate,
                                 parked, reason, run_at, due_at, max_attempts, payload, trace)
        VALUES (new_id, enqueue.queue, enqueue.operation, enqueue.tenant, in_lane, enqueue.priority, enqueue.cost,
                greatest(floor, tail) + enqueue.cost / weight, new_id, enqueue.key, is_ready, gate,
                due IS NULL AND gate > 0, CASE WHEN due IS NOT NULL THEN 'scheduled' WHEN gate > 0 THEN 'capped' END,
                due, due, enqueue.max_attempts, enqueue.payload, enqueue.trace)
        ON CONFLICT DO NOTHING RETURNING id INTO found_id;
        EXIT WHEN found_id IS NOT NULL;
        SELECT j.id INTO found_id FROM towpath.job AS j
        WHERE j.tenant = enqueue.tenant AND j.operation = enqueue.operation AND j.key = enqueue.key
          AND j.key IS NOT NULL AND j.state IN ('queued', 'running', 'waiting');
        IF found_id IS NOT NULL THEN
            RETURN found_id;
        END IF;
        -- The holder ended between the two statements: the key is free again.
    END LOOP;
    INSERT INTO towpath.owned (tenant, id) VALUES (enqueue.tenant, new_id);
    INSERT INTO towpath.event (job_id, seq, attempt, name) VALUES (new_id, 1, 0, 'job.created');
    INSERT INTO towpath.tally (queue, operation, created, queued) VALUES (enqueue.queue, enqueue.operation, 1, 1);
    IF is_ready THEN
        PERFORM pg_notify('towpath', enqueue.queue);
    END IF;
    RETURN new_id;
END
$$;

-- Lists by state: for states that a job of the hot path never has, so that it pays nothing for them.
CREATE INDEX job_rare ON towpath.job (state, id) WHERE state IN ('waiting', 'partial', 'failed', 'cancelled');
CREATE INDEX job_rare_of ON towpath.job (tenant, state, id) WHERE state IN ('waiting', 'partial', 'failed', 'cancelled');

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

-- Jobs that are gone, so that streams of events can tell; the janitor forgets them after a while.
CREATE TABLE towpath.tombstone (
    job_id uuid PRIMARY KEY,
    tenant text NOT NULL,
    at     timestamptz NOT NULL,
    xid    xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX tombstone_xid ON towpath.tombstone (xid);
CREATE INDEX tombstone_at ON towpath.tombstone (at);

-- The snapshot as it would be if no transaction from `bound` on had begun: a place between two snapshots.
CREATE FUNCTION towpath.snapshot_below(whole pg_snapshot, bound xid8) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce((array_agg(running::text ORDER BY running))[1], bound::text) || ':' || bound::text || ':'
           || coalesce(string_agg(running::text, ',' ORDER BY running), '')
    FROM pg_snapshot_xip(whole) AS running WHERE running < bound
$$;

-- Charts ask for a span of time; after two days minutes and quarters are folded into hours, and `upkeep` knows how far that has come.
CREATE INDEX rollup_minute ON towpath.rollup (minute);
CREATE INDEX histogram_quarter ON towpath.histogram (quarter);
CREATE INDEX histogram_minute_minute ON towpath.histogram_minute (minute);
CREATE TABLE towpath.upkeep (
    name       text PRIMARY KEY,
    done_until timestamptz
);
INSERT INTO towpath.upkeep (name) VALUES ('rollups');

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
INSERT INTO towpath.lifetime
SELECT queue, operation, sum(created), sum(started), sum(succeeded), sum(partial), sum(failed), sum(cancelled), sum(retried),
       sum(wait_seconds), sum(run_seconds)
FROM towpath.rollup GROUP BY queue, operation;
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
INSERT INTO towpath.usage
SELECT job.tenant, date_trunc('hour', step.created_at), job.queue, job.operation, coalesce(step.model, ''), count(*),
       coalesce(sum(step.tokens_in), 0), coalesce(sum(step.tokens_out), 0), coalesce(sum(step.cost_cents), 0),
       count(step.cost_cents),
       coalesce(sum(step.tokens_in) FILTER (WHERE step.cost_cents IS NULL), 0),
       coalesce(sum(step.tokens_out) FILTER (WHERE step.cost_cents IS NULL), 0),
       count(*) FILTER (WHERE step.cost_cents IS NULL AND step.tokens_in IS NULL AND step.tokens_out IS NULL)
FROM towpath.step AS step JOIN towpath.job AS job ON job.id = step.job_id
WHERE step.model IS NOT NULL OR step.tokens_in IS NOT NULL OR step.tokens_out IS NOT NULL OR step.cost_cents IS NOT NULL
GROUP BY 1, 2, 3, 4, 5;

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
FROM towpath.job WHERE state = 'failed' AND error_kind <> 'children'
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
       stopped_at, stopped_at IS NULL AND seen_at > now() - interval '60 seconds' AS alive
FROM towpath.worker;

CREATE VIEW towpath.v_efficiency AS
SELECT minute, workers::float8 / samples AS workers, concurrency::float8 / samples AS concurrency,
       running::float8 / samples AS running, running::float8 / nullif(concurrency, 0) AS busy_ratio
FROM towpath.occupancy;

CREATE VIEW towpath.v_jobs AS
SELECT id, queue, operation, tenant, lane, priority, cost, state, reason, key, parent_id, root_id, attempt AS entries, failures,
       max_attempts, steps, children_total, children_ok, children_partial, children_bad, progress_current, progress_total,
       error_kind, error_group AS error_cause, worker_id, created_at, run_at, deadline, started_at, finished_at,
       date_part('epoch', started_at - created_at) AS wait_seconds, date_part('epoch', finished_at - started_at) AS run_seconds
FROM towpath.job;
