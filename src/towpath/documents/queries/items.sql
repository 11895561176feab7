-- name: document_item_add
INSERT INTO towpath.document_item (id, run_id, tenant, number, name, asset_id, address, source, document_id)
VALUES (:id, :run_id, :tenant, :number, :name, :asset_id, :address, :source, :document_id)
ON CONFLICT DO NOTHING

-- name: document_items_by_id
SELECT id, run_id, tenant, number, name, asset_id, address, source, settings, document_id, outcome, last_job, last_state, last_error
FROM towpath.document_item WHERE id IN :ids

-- name: document_items_page
SELECT id, run_id, tenant, number, name, asset_id, address, source, settings, document_id, outcome, last_job, last_state, last_error
FROM towpath.document_item WHERE run_id = :run_id AND number > :after ORDER BY number LIMIT :limit

-- name: document_items_of_document
-- Whatever it was read for, the newest first.
SELECT id, run_id, tenant, number, name, asset_id, address, source, settings, document_id, outcome, last_job, last_state, last_error
FROM towpath.document_item WHERE document_id = :document_id AND id < :before ORDER BY id DESC LIMIT :limit

-- name: document_items_in_state
-- Only those whose jobs are there: one that is gone is told from its item's own row.
SELECT item.id, item.run_id, item.tenant, item.number, item.name, item.asset_id, item.address, item.source, item.settings,
       item.document_id, item.outcome, item.last_job, item.last_state, item.last_error
FROM towpath.job AS job
JOIN towpath.document_item AS item ON item.id = job.subject_id
WHERE job.parent_id = :job_id AND job.state IN :states AND item.number > :after
ORDER BY item.number LIMIT :limit

-- name: document_items_ids
SELECT id FROM towpath.document_item WHERE run_id = :run_id ORDER BY number

-- name: document_item_jobs
SELECT id, subject_id, state, reason, attempt, failures, run_at, deadline, error, created_at, started_at, finished_at
FROM towpath.job
WHERE subject_kind IS NOT NULL AND subject_kind = 'document_item' AND subject_id IN :ids

-- name: document_item_steps
SELECT job_id, name, done, ord, output, duration_ms, retries, model, tokens_in, tokens_out, cost_cents, created_at
FROM towpath.step WHERE job_id IN :job_ids AND kind = 'step' ORDER BY job_id, ord

-- name: document_item_outcome
UPDATE towpath.document_item SET outcome = :outcome, document_id = :document_id WHERE id = :id

-- name: document_items_settings
UPDATE towpath.document_item SET settings = :settings WHERE id IN :ids

-- name: document_items_failed
-- With the causes, for those who retry by cause.
SELECT job.id AS job_id, job.subject_id AS item_id, job.error, job.error_group FROM towpath.job AS job
WHERE job.parent_id = :job_id AND job.state IN ('failed', 'cancelled')

-- name: document_items_delete
DELETE FROM towpath.document_item WHERE run_id IN :ids

-- name: document_item_forget_address
UPDATE towpath.document_item SET address = :address WHERE id = :id
