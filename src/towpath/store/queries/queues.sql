-- name: lock_queue
SELECT * FROM towpath.queue WHERE name = :queue FOR UPDATE

-- name: queue_settings
SELECT * FROM towpath.queue ORDER BY name

-- name: put_queue
INSERT INTO towpath.queue (name, paused, paused_at, max_slots) VALUES (:name, :paused, :paused_at, :max_slots)
ON CONFLICT (name) DO UPDATE
SET paused = excluded.paused, paused_at = excluded.paused_at, max_slots = excluded.max_slots

-- name: lock_free_queue
SELECT * FROM towpath.queue WHERE name = :queue
