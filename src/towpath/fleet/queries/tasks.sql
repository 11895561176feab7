-- name: fleet_task_add
INSERT INTO towpath.fleet_task (id, tenant, operation, settings, source, object_key, mark, etag, size, sha256, target, result_key,
                                route, name, asset_id, created_by, creator, created_at)
VALUES (:id, :tenant, :operation, :settings, :source, :object_key, :mark, :etag, :size, :sha256, :target, :result_key,
        :route, :name, :asset_id, :created_by, :creator, :now)
ON CONFLICT DO NOTHING

-- name: fleet_tasks_by_id
SELECT id, tenant, operation, settings, source, object_key, mark, etag, size, target, result_key, route, name, asset_id,
       created_by, creator, created_at, result_bytes, result_sha256, last_job, last_state, last_error, sha256
FROM towpath.fleet_task WHERE id IN :ids AND removed_at IS NULL

-- name: fleet_tasks_page
SELECT id, tenant, operation, settings, source, object_key, mark, etag, size, target, result_key, route, name, asset_id,
       created_by, creator, created_at, result_bytes, result_sha256, last_job, last_state, last_error, sha256
FROM towpath.fleet_task
WHERE removed_at IS NULL AND id < :before AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
ORDER BY id DESC LIMIT :limit

-- name: fleet_task_result
UPDATE towpath.fleet_task SET result_bytes = :bytes, result_sha256 = :sha256 WHERE id = :id

-- name: fleet_task_remove
UPDATE towpath.fleet_task SET removed_at = coalesce(removed_at, :now) WHERE id = :id

-- name: fleet_task_delete
DELETE FROM towpath.fleet_task WHERE id = :id

-- name: fleet_dispatches_delete
DELETE FROM towpath.fleet_dispatch WHERE task_id = :id

-- name: fleet_notes_delete
DELETE FROM towpath.fleet_note WHERE task_id = :id

-- name: fleet_tasks_known
-- Whose blobs are kept, see `Slice(blobs=…)`.
SELECT id FROM towpath.fleet_task WHERE id IN :ids

-- name: fleet_object_add
INSERT INTO towpath.fleet_object (source, object_key, task_id, version, etag, sequencer)
VALUES (:source, :object_key, NULL, '', '', '')
ON CONFLICT DO NOTHING

-- name: fleet_object_lock
SELECT task_id, version, etag, sequencer FROM towpath.fleet_object
WHERE source = :source AND object_key = :object_key FOR UPDATE

-- name: fleet_object_set
UPDATE towpath.fleet_object SET task_id = :task_id, version = :version, etag = :etag, sequencer = :sequencer
WHERE source = :source AND object_key = :object_key

-- name: fleet_objects_seen
SELECT object_key, version, etag FROM towpath.fleet_object WHERE source = :source AND object_key IN :keys

-- name: fleet_task_known
SELECT id FROM towpath.fleet_task WHERE source = :source AND object_key = :object_key AND mark = :mark

-- name: fleet_lane_known
SELECT weight, max_slots, max_roots FROM towpath.lane WHERE queue = :queue AND lane = :lane

-- name: fleet_lanes
-- Those that nobody has given a cap of their own by hand.
SELECT lane.queue, lane.lane, lane.weight, lane.max_roots
FROM towpath.lane AS lane
LEFT JOIN towpath.fleet_room AS room ON room.queue = lane.queue AND room.lane = lane.lane
WHERE lane.queue IN :queues AND lane.lane <> :care AND lane.max_slots IS NULL
  AND (lane.max_roots IS NULL OR lane.max_roots = room.max_roots)
ORDER BY lane.queue, lane.lane

-- name: fleet_room_put
INSERT INTO towpath.fleet_room (queue, lane, max_roots) VALUES (:queue, :lane, :max_roots)
ON CONFLICT (queue, lane) DO UPDATE SET max_roots = excluded.max_roots

-- name: fleet_intake_put
INSERT INTO towpath.fleet_intake (bucket, folder, tenant, told, updated_at)
VALUES (:bucket, :folder, :tenant, :told, :now)
ON CONFLICT (bucket, folder, tenant) DO UPDATE SET told = excluded.told, updated_at = excluded.updated_at

-- name: fleet_intakes
SELECT bucket, folder, tenant, told FROM towpath.fleet_intake ORDER BY bucket, folder DESC, tenant

-- name: fleet_intake_sweep
-- Whoever changes the row lists the folder; the others need not.
UPDATE towpath.fleet_intake SET swept_at = :now
WHERE bucket = :bucket AND folder = :folder AND tenant = :tenant AND (swept_at IS NULL OR swept_at <= :before)
