-- name: list_jobs
SELECT * FROM towpath.job
WHERE (CAST(:before AS text) IS NULL OR id < :before_id)
  AND (CAST(:state AS text) IS NULL OR state = CAST(:state AS text))
  AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))
  AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
ORDER BY id DESC LIMIT :limit

-- name: list_children
SELECT * FROM towpath.job
WHERE parent_id = :parent_id AND parent_id IS NOT NULL AND (CAST(:before AS text) IS NULL OR id < :before_id)
  AND (CAST(:state AS text) IS NULL OR state = CAST(:state AS text))
ORDER BY id DESC LIMIT :limit

-- name: list_of_subject
-- Compared and ordered by subject and id together, so that no planner takes the way over all jobs.
SELECT * FROM towpath.job
WHERE subject_kind IS NOT NULL
  AND (subject_kind, subject_id, id) < (:subject_kind, :subject_id, :before)
  AND (subject_kind, subject_id) >= (:subject_kind, :subject_id)
  AND (CAST(:parent AS text) IS NULL OR CAST(parent_id AS text) = CAST(:parent AS text))
  AND (CAST(:state AS text) IS NULL OR state = CAST(:state AS text))
  AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))
  AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
ORDER BY subject_kind DESC, subject_id DESC, id DESC LIMIT :limit

-- name: list_failed
SELECT * FROM towpath.job
WHERE rare_state = 'failed' AND error_kind <> 'children'
  AND (CAST(:after AS text) IS NULL OR id > :after_id)
  AND (CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:kind AS text) IS NULL OR error_kind = CAST(:kind AS text))
  AND (CAST(:message AS text) IS NULL OR error_group = CAST(:message AS text))
  AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
ORDER BY id LIMIT :limit

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
