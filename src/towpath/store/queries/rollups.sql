-- Counts by the minute and since the first job. `sums.py` says what the lists of columns stand for, and each database how it unpacks
-- the rows that are added, such as `rows_of_flows`. `WHERE true` is there for SQLite, which takes the ON behind a table for a join's.

-- name: add_count_delta
INSERT INTO towpath.count_delta (at, queue, operation, {flows}, {levels}, waits, runs)
VALUES (:now, :queue, :operation, {flows_parameters}, {levels_parameters}, :waits, :runs)

-- name: any_count_delta
SELECT 1 AS found FROM towpath.count_delta LIMIT 1

-- name: add_rollups
INSERT INTO towpath.rollup AS known (queue, operation, minute, {flows})
SELECT queue, operation, minute, {flows} FROM {rows_of_flows} WHERE true
ON CONFLICT (queue, operation, minute) DO UPDATE SET {flows_added}

-- name: add_lifetimes
INSERT INTO towpath.lifetime AS known (queue, operation, {flows})
SELECT queue, operation, {flows} FROM {rows_of_flows} WHERE true
ON CONFLICT (queue, operation) DO UPDATE SET {flows_added}

-- name: add_histograms
INSERT INTO towpath.histogram AS known (queue, operation, quarter, what, bucket, jobs)
SELECT queue, operation, quarter, what, bucket, jobs FROM {rows_of_durations} WHERE true
ON CONFLICT (queue, operation, quarter, what, bucket) DO UPDATE SET jobs = known.jobs + excluded.jobs

-- name: add_histogram_minutes
INSERT INTO towpath.histogram_minute AS known (queue, operation, minute, what, bucket, jobs)
SELECT queue, operation, minute, what, bucket, jobs FROM {rows_of_durations} WHERE true
ON CONFLICT (queue, operation, minute, what, bucket) DO UPDATE SET jobs = known.jobs + excluded.jobs

-- name: add_lifetime_histograms
INSERT INTO towpath.lifetime_histogram AS known (queue, operation, what, bucket, jobs)
SELECT queue, operation, what, bucket, jobs FROM {rows_of_durations} WHERE true
ON CONFLICT (queue, operation, what, bucket) DO UPDATE SET jobs = known.jobs + excluded.jobs

-- name: add_usages
INSERT INTO towpath.usage AS known (tenant, quarter, queue, operation, model, {usage})
SELECT tenant, quarter, queue, operation, model, {usage} FROM {rows_of_usage} WHERE true
ON CONFLICT (tenant, quarter, queue, operation, model) DO UPDATE SET {usage_added}

-- name: add_spends
INSERT INTO towpath.spend AS known (minute, tenant, queue, operation, model, {usage})
SELECT minute, tenant, queue, operation, model, {usage} FROM {rows_of_usage} WHERE true
ON CONFLICT (minute, tenant, queue, operation, model) DO UPDATE SET {usage_added}

-- name: add_depth
INSERT INTO towpath.depth AS known (queue, {levels}) VALUES (:queue, {levels_parameters})
ON CONFLICT (queue) DO UPDATE SET {levels_added}

-- name: depths
-- With the deltas that nobody has compacted yet: while no worker runs, nobody does.
SELECT queue, {levels_summed}
FROM (SELECT queue, {levels} FROM towpath.depth
      UNION ALL
      SELECT queue, {levels} FROM towpath.count_delta) AS parts
GROUP BY queue ORDER BY queue

-- name: depth_of
SELECT {levels_summed}
FROM (SELECT {levels} FROM towpath.depth WHERE queue = :queue
      UNION ALL
      SELECT {levels} FROM towpath.count_delta WHERE queue = :queue) AS parts
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
-- The first moment for which something was counted, so that hours in which nothing happened need not be looked at.
SELECT min(minute) AS minute
FROM (SELECT min(minute) AS minute FROM towpath.rollup WHERE minute >= :hour
      UNION ALL SELECT min(quarter) FROM towpath.histogram WHERE quarter >= :hour
      UNION ALL SELECT min(minute) FROM towpath.occupancy WHERE minute >= :hour
      UNION ALL SELECT min(quarter) FROM towpath.usage WHERE quarter >= :hour) AS firsts

-- name: rollup_hour
SELECT queue, operation, {flows_summed}
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
SELECT tenant, queue, operation, model, {usage_summed}
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
SELECT queue, operation, {flows} FROM towpath.lifetime ORDER BY queue, operation

-- name: lifetime_histograms
SELECT queue, operation, what, bucket, jobs FROM towpath.lifetime_histogram ORDER BY queue, operation, what, bucket
