-- What charts and bills add up. Whatever is counted has a table by the quarter of an hour, or a fine one by the minute for short
-- spans; a slot is a point of the chart, `:width` seconds long. `sums.py` says what the lists of columns stand for.

-- fragment: slot_of_minute
CAST(floor({seconds_of_minute} / CAST(:width AS float8)) AS bigint) AS slot

-- fragment: slot_of_quarter
CAST(floor({seconds_of_quarter} / CAST(:width AS float8)) AS bigint) AS slot

-- fragment: operation_and_queue
(CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))

-- fragment: tenant_operation_and_queue
(CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
  AND {operation_and_queue}

-- name: flows_in_slots
SELECT {slot_of_minute}, operation, {counts_summed}
FROM towpath.rollup
WHERE minute >= :since AND minute < :until AND {operation_and_queue}
GROUP BY 1, 2

-- name: flows_before
-- Of a span that is only compared with: by operation, without its course.
SELECT operation, {counts_summed}
FROM towpath.rollup
WHERE minute >= :since AND minute < :until AND {operation_and_queue}
GROUP BY operation

-- name: quarter_durations_in_slots
SELECT {slot_of_quarter}, what, bucket, CAST(sum(jobs) AS bigint) AS jobs
FROM towpath.histogram
WHERE quarter >= :since AND quarter < :until AND {operation_and_queue}
GROUP BY 1, 2, 3

-- name: minute_durations_in_slots
SELECT {slot_of_minute}, what, bucket, CAST(sum(jobs) AS bigint) AS jobs
FROM towpath.histogram_minute
WHERE minute >= :since AND minute < :until AND {operation_and_queue}
GROUP BY 1, 2, 3

-- name: quarter_durations_by_operation
SELECT operation, what, bucket, CAST(sum(jobs) AS bigint) AS jobs
FROM towpath.histogram
WHERE quarter >= :since AND quarter < :until AND {operation_and_queue}
GROUP BY operation, what, bucket

-- name: minute_durations_by_operation
SELECT operation, what, bucket, CAST(sum(jobs) AS bigint) AS jobs
FROM towpath.histogram_minute
WHERE minute >= :since AND minute < :until AND {operation_and_queue}
GROUP BY operation, what, bucket

-- name: usage_in_slots
SELECT {slot_of_quarter}, model, {usage_summed}
FROM towpath.usage
WHERE quarter >= :since AND quarter < :until AND {tenant_operation_and_queue}
GROUP BY 1, 2

-- name: spend_in_slots
SELECT {slot_of_minute}, model, {usage_summed}
FROM towpath.spend
WHERE minute >= :since AND minute < :until AND {tenant_operation_and_queue}
GROUP BY 1, 2

-- name: usage_by_tenant
SELECT tenant, model, {usage_summed}
FROM towpath.usage
WHERE quarter >= :since AND quarter < :until AND {tenant_operation_and_queue}
GROUP BY tenant, model

-- name: spend_by_tenant
SELECT tenant, model, {usage_summed}
FROM towpath.spend
WHERE minute >= :since AND minute < :until AND {tenant_operation_and_queue}
GROUP BY tenant, model

-- name: busy_since
SELECT CAST(sum(running) AS bigint) AS running, CAST(sum(concurrency) AS bigint) AS concurrency
FROM towpath.occupancy WHERE minute >= :since

-- name: sampled_jobs
-- The newest of a tenant's jobs that were made in a span of time; ids are made in the order of time.
SELECT job.operation, job.queue, job.state, job.failures, job.retry_laters, job.created_at, job.started_at, job.finished_at
FROM (SELECT id FROM towpath.owned WHERE tenant = :tenant AND id >= :first AND id < :last ORDER BY id DESC LIMIT :limit) AS own
JOIN towpath.job AS job ON job.id = own.id
