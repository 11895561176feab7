-- name: asset_upload_add
INSERT INTO towpath.asset_upload (id, sender, length, received, purpose, options, metadata, touched_at)
VALUES (:id, :sender, :length, :received, :purpose, :options, :metadata, :now)

-- name: asset_upload
SELECT id, sender, length, received, purpose, options, metadata, result, error, finished_at, touched_at
FROM towpath.asset_upload WHERE id = :id

-- name: asset_upload_advance
-- Zero rows: somebody else has gone on with it from the same place.
UPDATE towpath.asset_upload SET received = received + :bytes, touched_at = :now
WHERE id = :id AND received = :start AND finished_at IS NULL

-- name: asset_part_add
INSERT INTO towpath.asset_part (upload_id, start, bytes, blob_key) VALUES (:id, :start, :bytes, :blob_key)

-- name: asset_parts
SELECT start, bytes, blob_key FROM towpath.asset_part WHERE upload_id = :id ORDER BY start

-- name: asset_parts_forget
DELETE FROM towpath.asset_part WHERE upload_id IN :ids

-- name: asset_upload_finish
UPDATE towpath.asset_upload SET result = :result, finished_at = :now, touched_at = :now
WHERE id = :id AND finished_at IS NULL

-- name: asset_upload_fail
-- Zero rows: it has gone on meanwhile, or has ended.
UPDATE towpath.asset_upload SET error = :error, finished_at = :now, touched_at = :now
WHERE id = :id AND received = :received AND finished_at IS NULL

-- name: asset_uploads_forget
DELETE FROM towpath.asset_upload WHERE id IN :ids

-- name: asset_uploads_complete
-- Whether there are any that have all their bytes and have not been handed over.
SELECT id FROM towpath.asset_upload WHERE received = length AND finished_at IS NULL LIMIT 1

-- name: asset_uploads_old
SELECT id FROM towpath.asset_upload WHERE finished_at < :before ORDER BY touched_at LIMIT :limit

-- name: asset_uploads_left
-- Complete, not handed over, and no job at it: the newest is gone or was cancelled. One that failed waits in the inbox.
SELECT id, state FROM (
    SELECT upload.id, upload.touched_at,
           (SELECT CASE WHEN job.leased THEN 'leased' ELSE job.state END FROM towpath.job AS job
            WHERE job.subject_kind = :kind AND job.subject_id = upload.id AND job.operation = :operation
            ORDER BY job.id DESC LIMIT 1) AS state
    FROM towpath.asset_upload AS upload JOIN towpath.asset AS asset ON asset.id = upload.id
    WHERE upload.received = upload.length AND upload.finished_at IS NULL AND asset.removed_at IS NULL
) AS looked
WHERE state IS NULL OR state IN ('cancelled', 'succeeded', 'partial')
ORDER BY touched_at LIMIT :limit
