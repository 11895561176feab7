-- name: asset_add
INSERT INTO towpath.asset (id, tenant, name, media_type, kind, bytes, sha256, blob_key, state, meta, created_by, created_at,
                           touched_at)
VALUES (:id, :tenant, :name, '', '', :bytes, '', :blob_key, 'uploading', :meta, :created_by, :now, :now)

-- name: assets_by_id
SELECT id, tenant, name, media_type, kind, bytes, sha256, blob_key, state, meta, created_by, created_at
FROM towpath.asset WHERE id IN :ids AND tenant = :tenant AND removed_at IS NULL

-- name: asset_of_any_tenant
SELECT id, tenant, name, media_type, kind, bytes, sha256, blob_key, state, meta, created_by, created_at
FROM towpath.asset WHERE id = :id AND removed_at IS NULL

-- name: assets_known
-- Also those that are about to go: whoever removes them deletes their blobs.
SELECT id FROM towpath.asset WHERE id IN :ids

-- name: assets_lock
SELECT id, bytes, state FROM towpath.asset WHERE id IN :ids AND tenant = :tenant AND removed_at IS NULL
ORDER BY id FOR UPDATE

-- name: assets_open
-- What one account has begun and not finished.
SELECT count(*) AS open FROM towpath.asset
WHERE state = 'uploading' AND removed_at IS NULL AND tenant = :tenant AND COALESCE(created_by, '') = :account

-- name: asset_grow
-- Zero rows: it was deleted while it came.
UPDATE towpath.asset SET bytes = bytes + :bytes, touched_at = :now
WHERE id = :id AND state = 'uploading' AND removed_at IS NULL

-- name: asset_ready
UPDATE towpath.asset SET state = 'ready', media_type = :media_type, kind = :kind, bytes = :bytes, sha256 = :sha256,
       touched_at = :now
WHERE id = :id AND state = 'uploading' AND removed_at IS NULL

-- name: asset_describe
UPDATE towpath.asset SET meta = :meta WHERE id = :id AND removed_at IS NULL

-- name: assets_page_described
-- Those that have such an entry in their meta; `:meta` is how it stands in the JSON.
SELECT id, tenant, name, media_type, kind, bytes, sha256, blob_key, state, meta, created_by, created_at
FROM towpath.asset
WHERE tenant = :tenant AND id < :before AND state = 'ready' AND removed_at IS NULL AND meta LIKE :meta
ORDER BY id DESC LIMIT :limit

-- name: asset_failed
UPDATE towpath.asset SET state = 'failed', bytes = 0, touched_at = :now
WHERE id = :id AND removed_at IS NULL

-- name: asset_touch
UPDATE towpath.asset SET touched_at = :now WHERE id = :id

-- name: assets_remove
UPDATE towpath.asset SET removed_at = :now WHERE id IN :ids

-- name: assets_forget
DELETE FROM towpath.asset WHERE id IN :ids AND removed_at IS NOT NULL

-- name: assets_removed
-- Removals that did not come to their end.
SELECT id FROM towpath.asset WHERE removed_at IS NOT NULL AND removed_at < :before ORDER BY id LIMIT :limit

-- name: assets_abandoned
-- Not those whose bytes are all there: their job hands them over, however long it has to wait for a worker.
SELECT id, tenant FROM towpath.asset AS asset
WHERE state <> 'ready' AND removed_at IS NULL AND touched_at < :before
  AND NOT EXISTS (
    SELECT 1 FROM towpath.asset_upload AS upload
    WHERE upload.id = asset.id AND upload.received = upload.length AND upload.finished_at IS NULL
  )
ORDER BY touched_at LIMIT :limit
