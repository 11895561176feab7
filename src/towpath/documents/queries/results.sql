-- name: document_result
SELECT id, body, blob, facts FROM towpath.document_result WHERE id = :id AND tenant = :tenant

-- name: document_result_add
INSERT INTO towpath.document_result (id, tenant, step, body, blob, facts, created_at)
VALUES (:id, :tenant, :step, :body, :blob, :facts, :now)
ON CONFLICT (id) DO NOTHING

-- name: document_result_touch
-- Whoever sweeps leaves it alone from here on: its row is locked, and younger than what is swept.
UPDATE towpath.document_result SET created_at = :now WHERE id = :id

-- name: document_results_known
SELECT id FROM towpath.document_result WHERE id IN :ids

-- name: document_holds_forget
DELETE FROM towpath.document_hold WHERE holder_id IN :ids

-- name: document_hold_add
INSERT INTO towpath.document_hold (holder_id, result_id) VALUES (:holder_id, :result_id) ON CONFLICT DO NOTHING

-- name: document_holds_of_run
DELETE FROM towpath.document_hold
WHERE holder_id IN (SELECT id FROM towpath.document_item WHERE run_id IN :ids)

-- name: document_results_sweep
DELETE FROM towpath.document_result
WHERE id IN (SELECT result.id FROM towpath.document_result AS result
             WHERE result.created_at < :before
               AND NOT EXISTS (SELECT 1 FROM towpath.document_hold AS hold WHERE hold.result_id = result.id)
             ORDER BY result.created_at LIMIT :limit)
  AND created_at < :before
RETURNING id, blob
