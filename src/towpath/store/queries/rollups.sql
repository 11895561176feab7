-- name: add_count_delta
INSERT INTO towpath.count_delta (queue, operation, created, started, succeeded, partial, failed, cancelled, retried, queued,
                           running, waiting, wait_seconds, run_seconds, waits, runs)
VALUES (:queue, :operation, :created, :started, :succeeded, :partial, :failed, :cancelled, :retried, :queued,
        :running, :waiting, :wait_seconds, :run_seconds, :waits, :runs)

-- name: any_count_delta
SELECT 1 AS found FROM towpath.count_delta LIMIT 1

-- name: add_depth
INSERT INTO towpath.depth AS depth (queue, queued, running, waiting) VALUES (:queue, :queued, :running, :waiting)
ON CONFLICT (queue) DO UPDATE
SET queued = depth.queued + excluded.queued, running = depth.running + excluded.running,
    waiting = depth.waiting + excluded.waiting

-- name: depths
-- With the deltas that nobody has compacted yet: while no worker runs, nobody does.
SELECT queue, CAST(sum(queued) AS bigint) AS queued, CAST(sum(running) AS bigint) AS running,
       CAST(sum(waiting) AS bigint) AS waiting
FROM (SELECT queue, queued, running, waiting FROM towpath.depth
      UNION ALL
      SELECT queue, queued, running, waiting FROM towpath.count_delta) AS parts
GROUP BY queue ORDER BY queue

-- name: depth_of
SELECT CAST(sum(queued) AS bigint) AS queued, CAST(sum(running) AS bigint) AS running, CAST(sum(waiting) AS bigint) AS waiting
FROM (SELECT queued, running, waiting FROM towpath.depth WHERE queue = :queue
      UNION ALL
      SELECT queued, running, waiting FROM towpath.count_delta WHERE queue = :queue) AS parts
HAVING count(*) > 0

-- name: queue_rate
SELECT sum(succeeded + partial + failed + cancelled) AS ended, count(DISTINCT minute) AS minutes,
       sum(started) AS started
FROM towpath.rollup WHERE queue = :queue AND minute >= :since

-- name: lock_upkeep
SELECT done_until AS until FROM towpath.upkeep WHERE name = :name FOR UPDATE SKIP LOCKED

-- name: upkeep_done
UPDATE towpath.upkeep SET done_until = :until WHERE name = :name

-- name: upkeep_until
SELECT done_until AS until FROM towpath.upkeep WHERE name = :name

-- name: next_minute
-- The first moment from which something is told, so that hours in which nothing happened need not be looked at.
SELECT min(minute) AS minute
FROM (SELECT min(minute) AS minute FROM towpath.rollup WHERE minute >= :hour
      UNION ALL SELECT min(quarter) FROM towpath.histogram WHERE quarter >= :hour
      UNION ALL SELECT min(minute) FROM towpath.occupancy WHERE minute >= :hour
      UNION ALL SELECT min(quarter) FROM towpath.usage WHERE quarter >= :hour) AS told

-- name: rollup_hour
SELECT queue, operation, CAST(sum(created) AS bigint) AS created, CAST(sum(started) AS bigint) AS started,
       CAST(sum(succeeded) AS bigint) AS succeeded, CAST(sum(partial) AS bigint) AS partial,
       CAST(sum(failed) AS bigint) AS failed, CAST(sum(cancelled) AS bigint) AS cancelled,
       CAST(sum(retried) AS bigint) AS retried, sum(wait_seconds) AS wait_seconds, sum(run_seconds) AS run_seconds
FROM towpath.rollup WHERE minute > :hour AND minute < :until GROUP BY queue, operation

-- name: drop_rollup_minutes
DELETE FROM towpath.rollup WHERE minute > :hour AND minute < :until

-- name: histogram_hour
SELECT queue, operation, what, bucket, CAST(sum(jobs) AS bigint) AS jobs
FROM towpath.histogram WHERE quarter > :hour AND quarter < :until GROUP BY queue, operation, what, bucket

-- name: drop_histogram_quarters
DELETE FROM towpath.histogram WHERE quarter > :hour AND quarter < :until

-- name: occupancy_hour
SELECT CAST(sum(samples) AS bigint) AS samples, CAST(sum(workers) AS bigint) AS workers,
       CAST(sum(concurrency) AS bigint) AS concurrency, CAST(sum(running) AS bigint) AS running
FROM towpath.occupancy WHERE minute > :hour AND minute < :until HAVING count(*) > 0

-- name: drop_occupancy_minutes
DELETE FROM towpath.occupancy WHERE minute > :hour AND minute < :until

-- name: usage_hour
SELECT tenant, queue, operation, model, CAST(sum(calls) AS bigint) AS calls, CAST(sum(tokens_in) AS bigint) AS tokens_in,
       CAST(sum(tokens_out) AS bigint) AS tokens_out, sum(cost_cents) AS cost_cents,
       CAST(sum(priced_calls) AS bigint) AS priced_calls, CAST(sum(unpriced_in) AS bigint) AS unpriced_in,
       CAST(sum(unpriced_out) AS bigint) AS unpriced_out, CAST(sum(unmeasured_calls) AS bigint) AS unmeasured_calls
FROM towpath.usage WHERE quarter > :hour AND quarter < :until GROUP BY tenant, queue, operation, model

-- name: drop_usage_quarters
DELETE FROM towpath.usage WHERE quarter > :hour AND quarter < :until

-- name: add_occupancy
INSERT INTO towpath.occupancy AS known (minute, samples, workers, concurrency, running)
VALUES (:minute, :samples, :workers, :concurrency, :running)
ON CONFLICT (minute) DO UPDATE
SET samples = known.samples + excluded.samples, workers = known.workers + excluded.workers,
    concurrency = known.concurrency + excluded.concurrency, running = known.running + excluded.running

-- name: forget_rollups
DELETE FROM towpath.rollup WHERE minute < :before

-- name: forget_histograms
DELETE FROM towpath.histogram WHERE quarter < :before

-- name: forget_histogram_minutes
DELETE FROM towpath.histogram_minute WHERE minute < :before

-- name: forget_occupancy
DELETE FROM towpath.occupancy WHERE minute < :before

-- name: lifetimes
SELECT queue, operation, created, started, succeeded, partial, failed, cancelled, retried, wait_seconds, run_seconds
FROM towpath.lifetime ORDER BY queue, operation

-- name: lifetime_histograms
SELECT queue, operation, what, bucket, jobs FROM towpath.lifetime_histogram ORDER BY queue, operation, what, bucket
