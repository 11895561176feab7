-- name: prunable_roots
SELECT id, children_total FROM towpath.job
WHERE parent_id IS NULL AND finished_at < :before AND finished_at IS NOT NULL AND state IN :states AND NOT leased
  AND id > :after AND id < :until
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text)) AND NOT queue IN :but_not
ORDER BY id LIMIT :limit

-- name: lock_prunable
SELECT id, children_total FROM towpath.job
WHERE id IN :ids AND parent_id IS NULL AND finished_at < :before AND finished_at IS NOT NULL AND state IN :states
  AND NOT leased
ORDER BY id FOR UPDATE SKIP LOCKED

-- name: jobs_known
SELECT id FROM towpath.job WHERE id IN :ids

-- name: database_made_at
SELECT applied_at FROM towpath.migration WHERE slice = 'engine' AND number = 1 AND revision = 0

-- name: delete_events
DELETE FROM towpath.event WHERE job_id IN :ids

-- name: delete_steps
DELETE FROM towpath.step WHERE job_id IN :ids

-- name: delete_job_usage
DELETE FROM towpath.job_usage WHERE job_id IN :ids

-- name: delete_signals
DELETE FROM towpath.signal WHERE job_id IN :ids

-- name: delete_owned
DELETE FROM towpath.owned WHERE (tenant, id) IN (SELECT tenant, id FROM towpath.job WHERE id IN :ids)

-- name: delete_jobs
DELETE FROM towpath.job WHERE id IN :ids
