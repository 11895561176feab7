-- name: take_idempotency
-- Answers a row if the key was free, or so old that it is free again.
INSERT INTO towpath.idempotency AS known (tenant, operation, key, body_hash, job_id, created_at)
VALUES (:tenant, :operation, :key, :body_hash, :job_id, :now)
ON CONFLICT (tenant, operation, key) DO UPDATE
SET body_hash = excluded.body_hash, job_id = excluded.job_id, created_at = excluded.created_at
WHERE known.created_at < :forgotten
RETURNING job_id

-- name: idempotency
SELECT body_hash, job_id FROM towpath.idempotency WHERE tenant = :tenant AND operation = :operation AND key = :key

-- name: redirect_idempotency
UPDATE towpath.idempotency SET job_id = :job_id WHERE tenant = :tenant AND operation = :operation AND key = :key

-- name: forget_idempotency
DELETE FROM towpath.idempotency WHERE created_at < :before
