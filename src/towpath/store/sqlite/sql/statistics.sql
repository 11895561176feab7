-- name: flows_in_slots
SELECT CAST(floor(minute / CAST(:width AS float8)) AS bigint) AS slot, operation,
       CAST(sum(created) AS bigint) AS created, CAST(sum(started) AS bigint) AS started,
       CAST(sum(succeeded) AS bigint) AS succeeded, CAST(sum(partial) AS bigint) AS partial,
       CAST(sum(failed) AS bigint) AS failed, CAST(sum(cancelled) AS bigint) AS cancelled,
       CAST(sum(retried) AS bigint) AS retried
FROM towpath.rollup
WHERE minute >= :since AND minute < :until
  AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))
GROUP BY 1, 2

-- name: quarter_durations_in_slots
SELECT CAST(floor(quarter / CAST(:width AS float8)) AS bigint) AS slot, what, bucket, CAST(sum(jobs) AS bigint) AS jobs
FROM towpath.histogram
WHERE quarter >= :since AND quarter < :until
  AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))
GROUP BY 1, 2, 3

-- name: minute_durations_in_slots
SELECT CAST(floor(minute / CAST(:width AS float8)) AS bigint) AS slot, what, bucket, CAST(sum(jobs) AS bigint) AS jobs
FROM towpath.histogram_minute
WHERE minute >= :since AND minute < :until
  AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))
GROUP BY 1, 2, 3

-- name: usage_in_slots
SELECT CAST(floor(quarter / CAST(:width AS float8)) AS bigint) AS slot, model,
       CAST(sum(calls) AS bigint) AS calls, CAST(sum(tokens_in) AS bigint) AS tokens_in,
       CAST(sum(tokens_out) AS bigint) AS tokens_out, sum(cost_cents) AS cost_cents,
       CAST(sum(priced_calls) AS bigint) AS priced_calls, CAST(sum(unpriced_in) AS bigint) AS unpriced_in,
       CAST(sum(unpriced_out) AS bigint) AS unpriced_out, CAST(sum(unmeasured_calls) AS bigint) AS unmeasured_calls
FROM towpath.usage
WHERE quarter >= :since AND quarter < :until
  AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
  AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))
GROUP BY 1, 2

-- name: spend_in_slots
SELECT CAST(floor(minute / CAST(:width AS float8)) AS bigint) AS slot, model,
       CAST(sum(calls) AS bigint) AS calls, CAST(sum(tokens_in) AS bigint) AS tokens_in,
       CAST(sum(tokens_out) AS bigint) AS tokens_out, sum(cost_cents) AS cost_cents,
       CAST(sum(priced_calls) AS bigint) AS priced_calls, CAST(sum(unpriced_in) AS bigint) AS unpriced_in,
       CAST(sum(unpriced_out) AS bigint) AS unpriced_out, CAST(sum(unmeasured_calls) AS bigint) AS unmeasured_calls
FROM towpath.spend
WHERE minute >= :since AND minute < :until
  AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
  AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))
GROUP BY 1, 2
