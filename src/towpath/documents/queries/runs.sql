-- name: document_run_add
INSERT INTO towpath.document_run (id, tenant, lane, kind, title, settings, priority, count, created_by, creator, created_at)
VALUES (:id, :tenant, :lane, :kind, :title, :settings, :priority, :count, :created_by, :creator, :now)

-- name: document_runs_by_id
SELECT id, tenant, lane, kind, title, settings, priority, count, created_by, creator, created_at, last_job, last_state, last_error
FROM towpath.document_run WHERE id IN :ids AND removed_at IS NULL

-- name: document_runs_page
SELECT id, tenant, lane, kind, title, settings, priority, count, created_by, creator, created_at, last_job, last_state, last_error
FROM towpath.document_run
WHERE removed_at IS NULL AND id < :before AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
ORDER BY id DESC LIMIT :limit

-- name: document_run_counted
UPDATE towpath.document_run SET count = :count WHERE id = :id

-- name: document_run_settings
UPDATE towpath.document_run SET settings = :settings WHERE id = :id

-- name: document_runs_remove
UPDATE towpath.document_run SET removed_at = coalesce(removed_at, :now) WHERE id IN :ids

-- name: document_runs_delete
DELETE FROM towpath.document_run WHERE id IN :ids

-- name: document_run_states
-- How the items of a run stand, by the states of their jobs.
SELECT state, CASE WHEN state IN ('queued', 'waiting') THEN reason END AS waits, count(*) AS items
FROM towpath.job WHERE parent_id = :job_id GROUP BY 1, 2

-- name: document_run_steps
-- How many items have done each step, and what that took.
SELECT step.name, sum(CASE WHEN step.done THEN 1 ELSE 0 END) AS done, sum(step.duration_ms) AS duration_ms,
       sum(step.tokens_in) AS tokens_in, sum(step.tokens_out) AS tokens_out, sum(step.cost_cents) AS cost_cents
FROM towpath.job AS job JOIN towpath.step AS step ON step.job_id = job.id
WHERE job.parent_id = :job_id AND step.kind = 'step'
GROUP BY step.name

-- name: document_run_line
-- Items that wait for nothing but their turn, in the order in which they come.
SELECT subject_id FROM towpath.job WHERE parent_id = :job_id AND state = 'queued' AND ready
ORDER BY priority, pass, id LIMIT :limit

-- name: document_run_last_states
-- The same of items whose jobs are gone.
SELECT last_state, count(*) AS items FROM towpath.document_item
WHERE run_id = :run_id AND last_state IS NOT NULL GROUP BY last_state
