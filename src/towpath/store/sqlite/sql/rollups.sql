-- name: take_count_deltas
SELECT queue, operation, floor(at / 60) * 60 AS minute, sum(created) AS created, sum(started) AS started,
       sum(succeeded) AS succeeded, sum(partial) AS partial, sum(failed) AS failed, sum(cancelled) AS cancelled,
       sum(retried) AS retried, sum(queued) AS queued, sum(running) AS running, sum(waiting) AS waiting,
       sum(wait_seconds) AS wait_seconds, sum(run_seconds) AS run_seconds,
       '[' || group_concat(trim(waits, '[]')) || ']' AS waits, '[' || group_concat(trim(runs, '[]')) || ']' AS runs
FROM towpath.count_delta GROUP BY 1, 2, 3 ORDER BY 1, 2, 3

-- name: clear_count_deltas
DELETE FROM towpath.count_delta

-- name: take_usage_deltas
DELETE FROM towpath.usage_delta
RETURNING floor(at / 60) * 60 AS minute, tenant, queue, operation, model, calls, tokens_in, tokens_out, cost_cents,
          priced_calls, unpriced_in, unpriced_out, unmeasured_calls

-- name: add_rollups
INSERT INTO towpath.rollup AS known (queue, operation, minute, created, started, succeeded, partial, failed,
                                     cancelled, retried, wait_seconds, run_seconds)
SELECT value ->> 'queue', value ->> 'operation', CAST(value ->> 'minute' AS REAL), value ->> 'created',
       value ->> 'started', value ->> 'succeeded', value ->> 'partial', value ->> 'failed', value ->> 'cancelled',
       value ->> 'retried', value ->> 'wait_seconds', value ->> 'run_seconds'
FROM json_each(:rows) WHERE true
ON CONFLICT (queue, operation, minute) DO UPDATE
SET created = known.created + excluded.created, started = known.started + excluded.started,
    succeeded = known.succeeded + excluded.succeeded, partial = known.partial + excluded.partial,
    failed = known.failed + excluded.failed, cancelled = known.cancelled + excluded.cancelled,
    retried = known.retried + excluded.retried, wait_seconds = known.wait_seconds + excluded.wait_seconds,
    run_seconds = known.run_seconds + excluded.run_seconds

-- name: add_lifetimes
INSERT INTO towpath.lifetime AS known (queue, operation, created, started, succeeded, partial, failed, cancelled,
                                       retried, wait_seconds, run_seconds)
SELECT value ->> 'queue', value ->> 'operation', value ->> 'created', value ->> 'started', value ->> 'succeeded',
       value ->> 'partial', value ->> 'failed', value ->> 'cancelled', value ->> 'retried', value ->> 'wait_seconds',
       value ->> 'run_seconds'
FROM json_each(:rows) WHERE true
ON CONFLICT (queue, operation) DO UPDATE
SET created = known.created + excluded.created, started = known.started + excluded.started,
    succeeded = known.succeeded + excluded.succeeded, partial = known.partial + excluded.partial,
    failed = known.failed + excluded.failed, cancelled = known.cancelled + excluded.cancelled,
    retried = known.retried + excluded.retried, wait_seconds = known.wait_seconds + excluded.wait_seconds,
    run_seconds = known.run_seconds + excluded.run_seconds

-- name: add_histograms
INSERT INTO towpath.histogram AS known (queue, operation, quarter, what, bucket, jobs)
SELECT value ->> 'queue', value ->> 'operation', CAST(value ->> 'quarter' AS REAL), value ->> 'what',
       value ->> 'bucket', value ->> 'jobs'
FROM json_each(:rows) WHERE true
ON CONFLICT (queue, operation, quarter, what, bucket) DO UPDATE
SET jobs = known.jobs + excluded.jobs

-- name: add_histogram_minutes
INSERT INTO towpath.histogram_minute AS known (queue, operation, minute, what, bucket, jobs)
SELECT value ->> 'queue', value ->> 'operation', CAST(value ->> 'minute' AS REAL), value ->> 'what',
       value ->> 'bucket', value ->> 'jobs'
FROM json_each(:rows) WHERE true
ON CONFLICT (queue, operation, minute, what, bucket) DO UPDATE
SET jobs = known.jobs + excluded.jobs

-- name: add_lifetime_histograms
INSERT INTO towpath.lifetime_histogram AS known (queue, operation, what, bucket, jobs)
SELECT value ->> 'queue', value ->> 'operation', value ->> 'what', value ->> 'bucket', value ->> 'jobs'
FROM json_each(:rows) WHERE true
ON CONFLICT (queue, operation, what, bucket) DO UPDATE
SET jobs = known.jobs + excluded.jobs

-- name: add_usages
INSERT INTO towpath.usage AS known (tenant, quarter, queue, operation, model, calls, tokens_in, tokens_out, cost_cents,
                                    priced_calls, unpriced_in, unpriced_out, unmeasured_calls)
SELECT value ->> 'tenant', CAST(value ->> 'quarter' AS REAL), value ->> 'queue', value ->> 'operation',
       value ->> 'model', value ->> 'calls', value ->> 'tokens_in', value ->> 'tokens_out', value ->> 'cost_cents',
       value ->> 'priced_calls', value ->> 'unpriced_in', value ->> 'unpriced_out', value ->> 'unmeasured_calls'
FROM json_each(:rows) WHERE true
ON CONFLICT (tenant, quarter, queue, operation, model) DO UPDATE
SET calls = known.calls + excluded.calls, tokens_in = known.tokens_in + excluded.tokens_in,
    tokens_out = known.tokens_out + excluded.tokens_out, cost_cents = known.cost_cents + excluded.cost_cents,
    priced_calls = known.priced_calls + excluded.priced_calls, unpriced_in = known.unpriced_in + excluded.unpriced_in,
    unpriced_out = known.unpriced_out + excluded.unpriced_out,
    unmeasured_calls = known.unmeasured_calls + excluded.unmeasured_calls

-- name: add_spends
INSERT INTO towpath.spend AS known (minute, tenant, queue, operation, model, calls, tokens_in, tokens_out, cost_cents,
                                    priced_calls, unpriced_in, unpriced_out, unmeasured_calls)
SELECT CAST(value ->> 'minute' AS REAL), value ->> 'tenant', value ->> 'queue', value ->> 'operation', value ->> 'model',
       value ->> 'calls', value ->> 'tokens_in', value ->> 'tokens_out', value ->> 'cost_cents',
       value ->> 'priced_calls', value ->> 'unpriced_in', value ->> 'unpriced_out', value ->> 'unmeasured_calls'
FROM json_each(:rows) WHERE true
ON CONFLICT (minute, tenant, queue, operation, model) DO UPDATE
SET calls = known.calls + excluded.calls, tokens_in = known.tokens_in + excluded.tokens_in,
    tokens_out = known.tokens_out + excluded.tokens_out, cost_cents = known.cost_cents + excluded.cost_cents,
    priced_calls = known.priced_calls + excluded.priced_calls, unpriced_in = known.unpriced_in + excluded.unpriced_in,
    unpriced_out = known.unpriced_out + excluded.unpriced_out,
    unmeasured_calls = known.unmeasured_calls + excluded.unmeasured_calls
