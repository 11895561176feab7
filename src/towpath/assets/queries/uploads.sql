-- name: asset_upload_add
INSERT INTO towpath.asset_upload (id, tenant, account_id, length, received, purpose, options, principal, metadata,
                                  touched_at)
VALUES (:id, :tenant, :account_id, :length, 0, :purpose, :options, :principal, :metadata, :now)

-- name: asset_upload
SELECT id, tenant, account_id, length, received, purpose, options, principal, metadata, result, error, finished_at, touched_at
FROM towpath.asset_upload WHERE id = :id

-- name: asset_upload_advance
-- Zero rows: somebody else has gone on with it from the same place.
UPDATE towpath.asset_upload SET received = received + :bytes, touched_at = :now
WHERE id = :id AND received = :start AND error IS NULL AND finished_at IS NULL

-- name: asset_part_add
INSERT INTO towpath.asset_part (upload_id, start, bytes, blob_key) VALUES (:id, :start, :bytes, :blob_key)

-- name: asset_parts
SELECT start, bytes, blob_key FROM towpath.asset_part WHERE upload_id = :id ORDER BY start

-- name: asset_parts_forget
DELETE FROM towpath.asset_part WHERE upload_id IN :ids

-- name: asset_upload_claim
-- One at a time puts the parts together. Zero rows: somebody is at it, or it is done.
UPDATE towpath.asset_upload SET finishing_until = :until, touched_at = :now
WHERE id = :id AND received = length AND error IS NULL AND finished_at IS NULL
  AND (finishing_until IS NULL OR finishing_until < :now)

-- name: asset_upload_hold
UPDATE towpath.asset_upload SET finishing_until = :until, touched_at = :now WHERE id = :id AND finished_at IS NULL

-- name: asset_upload_release
UPDATE towpath.asset_upload SET finishing_until = NULL WHERE id = :id AND finished_at IS NULL

-- name: asset_upload_finish
UPDATE towpath.asset_upload SET result = :result, finished_at = :now, touched_at = :now
WHERE id = :id AND finished_at IS NULL

-- name: asset_upload_fail
UPDATE towpath.asset_upload SET error = :error, finished_at = :now, touched_at = :now
WHERE id = :id AND finished_at IS NULL

-- name: asset_uploads_forget
DELETE FROM towpath.asset_upload WHERE id IN :ids

-- name: asset_uploads_unfinished
SELECT id FROM towpath.asset_upload
WHERE received = length AND finished_at IS NULL AND error IS NULL AND (finishing_until IS NULL OR finishing_until < :now)
ORDER BY touched_at LIMIT :limit

-- name: asset_uploads_old
SELECT id FROM towpath.asset_upload WHERE finished_at < :before ORDER BY touched_at LIMIT :limit
