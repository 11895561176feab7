-- name: take_count_deltas
-- Durations are counted by bucket (core/histogram.py) here: tens of thousands a second would keep a worker's event loop busy.
WITH gone AS (
    DELETE FROM towpath.count_delta
    WHERE ctid = ANY (ARRAY (SELECT ctid FROM towpath.count_delta LIMIT 20000 FOR UPDATE SKIP LOCKED))
    RETURNING *, date_trunc('minute', at) AS minute
), spent AS (
    SELECT queue, operation, minute, what,
           CASE WHEN seconds <= 0.001 THEN 0
                ELSE greatest(0, ceil(least(160, ln(seconds::float8 * 1000) / ln(2::float8) * 4 - 1e-9))) END::int AS bucket,
           count(*) AS jobs
    FROM (SELECT queue, operation, minute, 'wait' AS what, unnest(waits) AS seconds FROM gone
          UNION ALL
          SELECT queue, operation, minute, 'run', unnest(runs) FROM gone) AS durations
    GROUP BY 1, 2, 3, 4, 5
), waited AS (
    SELECT queue, operation, minute, json_object_agg(bucket, jobs) AS waits FROM spent WHERE what = 'wait' GROUP BY 1, 2, 3
), ran AS (
    SELECT queue, operation, minute, json_object_agg(bucket, jobs) AS runs FROM spent WHERE what = 'run' GROUP BY 1, 2, 3
), counted AS (
    SELECT queue, operation, minute, sum(created)::int AS created, sum(started)::int AS started,
           sum(succeeded)::int AS succeeded, sum(partial)::int AS partial, sum(failed)::int AS failed,
           sum(cancelled)::int AS cancelled, sum(retried)::int AS retried, sum(queued)::int AS queued,
           sum(running)::int AS running, sum(waiting)::int AS waiting, sum(wait_seconds) AS wait_seconds,
           sum(run_seconds) AS run_seconds
    FROM gone GROUP BY 1, 2, 3
)
SELECT queue, operation, minute, created, started, succeeded, partial, failed, cancelled, retried, queued, running, waiting,
       wait_seconds, run_seconds, waits, runs
FROM counted LEFT JOIN waited USING (queue, operation, minute) LEFT JOIN ran USING (queue, operation, minute)
ORDER BY queue, operation, minute

-- name: take_usage_deltas
DELETE FROM towpath.usage_delta
WHERE ctid = ANY (ARRAY (SELECT ctid FROM towpath.usage_delta LIMIT 20000 FOR UPDATE SKIP LOCKED))
RETURNING date_trunc('minute', at) AS minute, tenant, queue, operation, model, calls, tokens_in, tokens_out, cost_cents,
          priced_calls, unpriced_in, unpriced_out, unmeasured_calls

-- name: add_rollups
INSERT INTO towpath.rollup AS known (queue, operation, minute, created, started, succeeded, partial, failed,
                                     cancelled, retried, wait_seconds, run_seconds)
SELECT queue, operation, to_timestamp(minute), created, started, succeeded, partial, failed, cancelled, retried,
       wait_seconds, run_seconds
FROM json_to_recordset(:rows::json) AS new (queue text, operation text, minute float8, created bigint, started bigint,
                                            succeeded bigint, partial bigint, failed bigint, cancelled bigint,
                                            retried bigint, wait_seconds float8, run_seconds float8)
ORDER BY 1, 2, 3
ON CONFLICT (queue, operation, minute) DO UPDATE
SET created = known.created + excluded.created, started = known.started + excluded.started,
    succeeded = known.succeeded + excluded.succeeded, partial = known.partial + excluded.partial,
    failed = known.failed + excluded.failed, cancelled = known.cancelled + excluded.cancelled,
    retried = known.retried + excluded.retried, wait_seconds = known.wait_seconds + excluded.wait_seconds,
    run_seconds = known.run_seconds + excluded.run_seconds

-- name: add_lifetimes
INSERT INTO towpath.lifetime AS known (queue, operation, created, started, succeeded, partial, failed, cancelled,
                                       retried, wait_seconds, run_seconds)
SELECT queue, operation, created, started, succeeded, partial, failed, cancelled, retried, wait_seconds, run_seconds
FROM json_to_recordset(:rows::json) AS new (queue text, operation text, created bigint, started bigint,
                                            succeeded bigint, partial bigint, failed bigint, cancelled bigint,
                                            retried bigint, wait_seconds float8, run_seconds float8)
ORDER BY 1, 2
ON CONFLICT (queue, operation) DO UPDATE
SET created = known.created + excluded.created, started = known.started + excluded.started,
    succeeded = known.succeeded + excluded.succeeded, partial = known.partial + excluded.partial,
    failed = known.failed + excluded.failed, cancelled = known.cancelled + excluded.cancelled,
    retried = known.retried + excluded.retried, wait_seconds = known.wait_seconds + excluded.wait_seconds,
    run_seconds = known.run_seconds + excluded.run_seconds

-- name: add_histograms
INSERT INTO towpath.histogram AS known (queue, operation, quarter, what, bucket, jobs)
SELECT queue, operation, to_timestamp(quarter), what, bucket, jobs
FROM json_to_recordset(:rows::json) AS new (queue text, operation text, quarter float8, what text, bucket int,
                                            jobs bigint)
ORDER BY 1, 2, 3, 4, 5
ON CONFLICT (queue, operation, quarter, what, bucket) DO UPDATE
SET jobs = known.jobs + excluded.jobs

-- name: add_histogram_minutes
INSERT INTO towpath.histogram_minute AS known (queue, operation, minute, what, bucket, jobs)
SELECT queue, operation, to_timestamp(minute), what, bucket, jobs
FROM json_to_recordset(:rows::json) AS new (queue text, operation text, minute float8, what text, bucket int,
                                            jobs bigint)
ORDER BY 1, 2, 3, 4, 5
ON CONFLICT (queue, operation, minute, what, bucket) DO UPDATE
SET jobs = known.jobs + excluded.jobs

-- name: add_lifetime_histograms
INSERT INTO towpath.lifetime_histogram AS known (queue, operation, what, bucket, jobs)
SELECT queue, operation, what, bucket, jobs
FROM json_to_recordset(:rows::json) AS new (queue text, operation text, what text, bucket int, jobs bigint)
ORDER BY 1, 2, 3, 4
ON CONFLICT (queue, operation, what, bucket) DO UPDATE
SET jobs = known.jobs + excluded.jobs

-- name: add_usages
INSERT INTO towpath.usage AS known (tenant, quarter, queue, operation, model, calls, tokens_in, tokens_out, cost_cents,
                                    priced_calls, unpriced_in, unpriced_out, unmeasured_calls)
SELECT tenant, to_timestamp(quarter), queue, operation, model, calls, tokens_in, tokens_out, cost_cents, priced_calls,
       unpriced_in, unpriced_out, unmeasured_calls
FROM json_to_recordset(:rows::json) AS new (tenant text, quarter float8, queue text, operation text, model text,
                                            calls bigint, tokens_in bigint, tokens_out bigint, cost_cents float8,
                                            priced_calls bigint, unpriced_in bigint, unpriced_out bigint,
                                            unmeasured_calls bigint)
ORDER BY 1, 2, 3, 4, 5
ON CONFLICT (tenant, quarter, queue, operation, model) DO UPDATE
SET calls = known.calls + excluded.calls, tokens_in = known.tokens_in + excluded.tokens_in,
    tokens_out = known.tokens_out + excluded.tokens_out, cost_cents = known.cost_cents + excluded.cost_cents,
    priced_calls = known.priced_calls + excluded.priced_calls, unpriced_in = known.unpriced_in + excluded.unpriced_in,
    unpriced_out = known.unpriced_out + excluded.unpriced_out,
    unmeasured_calls = known.unmeasured_calls + excluded.unmeasured_calls

-- name: add_spends
INSERT INTO towpath.spend AS known (minute, tenant, queue, operation, model, calls, tokens_in, tokens_out, cost_cents,
                                    priced_calls, unpriced_in, unpriced_out, unmeasured_calls)
SELECT to_timestamp(minute), tenant, queue, operation, model, calls, tokens_in, tokens_out, cost_cents, priced_calls,
       unpriced_in, unpriced_out, unmeasured_calls
FROM json_to_recordset(:rows::json) AS new (minute float8, tenant text, queue text, operation text, model text, calls bigint,
                                            tokens_in bigint, tokens_out bigint, cost_cents float8,
                                            priced_calls bigint, unpriced_in bigint, unpriced_out bigint,
                                            unmeasured_calls bigint)
ORDER BY 1, 2, 3, 4, 5
ON CONFLICT (minute, tenant, queue, operation, model) DO UPDATE
SET calls = known.calls + excluded.calls, tokens_in = known.tokens_in + excluded.tokens_in,
    tokens_out = known.tokens_out + excluded.tokens_out, cost_cents = known.cost_cents + excluded.cost_cents,
    priced_calls = known.priced_calls + excluded.priced_calls, unpriced_in = known.unpriced_in + excluded.unpriced_in,
    unpriced_out = known.unpriced_out + excluded.unpriced_out,
    unmeasured_calls = known.unmeasured_calls + excluded.unmeasured_calls
