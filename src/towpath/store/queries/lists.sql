-- name: inbox_groups
SELECT operation, error_kind AS kind, error_group AS message, count(*) AS jobs, min(finished_at) AS first_at,
       max(finished_at) AS last_at, min(CAST(id AS text)) AS example
FROM towpath.job
WHERE rare_state = 'failed' AND error_kind <> 'children'
  AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
GROUP BY operation, error_kind, error_group
ORDER BY count(*) DESC, operation, error_kind, error_group LIMIT :limit

-- name: job_events
-- Numbers have no gaps, so that a page is a span of them: a job may have a hundred thousand events.
SELECT job_id, seq, attempt, name, level, message, fields, ts FROM towpath.job_event
WHERE job_id = :job_id AND seq > :after AND seq <= CAST(:after AS bigint) + :limit ORDER BY seq

-- name: ahead_in_lower_bands
SELECT count(*) AS jobs FROM (
    SELECT 1 FROM towpath.job WHERE queue = :queue AND priority < :priority AND ready LIMIT :limit
) AS ahead

-- name: ahead_in_band
SELECT count(*) AS jobs FROM (
    SELECT 1 FROM towpath.job
    WHERE queue = :queue AND priority = :priority AND ready AND (pass < :pass OR (pass = :pass AND id < :id)) LIMIT :limit
) AS ahead

-- name: children_progress
SELECT sum(progress_current) AS done FROM towpath.job WHERE parent_id = :parent_id AND parent_id IS NOT NULL
