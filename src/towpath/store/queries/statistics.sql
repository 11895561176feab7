-- name: flows_before
-- Of a span that is only compared with: by operation, without its course.
SELECT operation, CAST(sum(created) AS bigint) AS created, CAST(sum(started) AS bigint) AS started,
       CAST(sum(succeeded) AS bigint) AS succeeded, CAST(sum(partial) AS bigint) AS partial,
       CAST(sum(failed) AS bigint) AS failed, CAST(sum(cancelled) AS bigint) AS cancelled,
       CAST(sum(retried) AS bigint) AS retried
FROM towpath.rollup
WHERE minute >= :since AND minute < :until
  AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))
GROUP BY operation

-- name: quarter_durations_by_operation
SELECT operation, what, bucket, CAST(sum(jobs) AS bigint) AS jobs
FROM towpath.histogram
WHERE quarter >= :since AND quarter < :until
  AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))
GROUP BY operation, what, bucket

-- name: minute_durations_by_operation
SELECT operation, what, bucket, CAST(sum(jobs) AS bigint) AS jobs
FROM towpath.histogram_minute
WHERE minute >= :since AND minute < :until
  AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))
GROUP BY operation, what, bucket

-- name: usage_by_tenant
SELECT tenant, model, CAST(sum(calls) AS bigint) AS calls, CAST(sum(tokens_in) AS bigint) AS tokens_in,
       CAST(sum(tokens_out) AS bigint) AS tokens_out, sum(cost_cents) AS cost_cents,
       CAST(sum(priced_calls) AS bigint) AS priced_calls, CAST(sum(unpriced_in) AS bigint) AS unpriced_in,
       CAST(sum(unpriced_out) AS bigint) AS unpriced_out, CAST(sum(unmeasured_calls) AS bigint) AS unmeasured_calls
FROM towpath.usage
WHERE quarter >= :since AND quarter < :until
  AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
  AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))
GROUP BY tenant, model

-- name: spend_by_tenant
SELECT tenant, model, CAST(sum(calls) AS bigint) AS calls, CAST(sum(tokens_in) AS bigint) AS tokens_in,
       CAST(sum(tokens_out) AS bigint) AS tokens_out, sum(cost_cents) AS cost_cents,
       CAST(sum(priced_calls) AS bigint) AS priced_calls, CAST(sum(unpriced_in) AS bigint) AS unpriced_in,
       CAST(sum(unpriced_out) AS bigint) AS unpriced_out, CAST(sum(unmeasured_calls) AS bigint) AS unmeasured_calls
FROM towpath.spend
WHERE minute >= :since AND minute < :until
  AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
  AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))
GROUP BY tenant, model

-- name: busy_since
SELECT CAST(sum(running) AS bigint) AS running, CAST(sum(concurrency) AS bigint) AS concurrency
FROM towpath.occupancy WHERE minute >= :since

-- name: sampled_jobs
-- The newest of a tenant's jobs that were made in a span of time; ids are made in the order of time.
SELECT job.operation, job.queue, job.state, job.failures, job.retry_laters, job.created_at, job.started_at, job.finished_at
FROM (SELECT id FROM towpath.owned WHERE tenant = :tenant AND id >= :first AND id < :last ORDER BY id DESC LIMIT :limit) AS own
JOIN towpath.job AS job ON job.id = own.id
