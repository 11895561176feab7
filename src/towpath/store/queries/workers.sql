-- name: put_worker
INSERT INTO towpath.worker (id, name, queues, operations, concurrency, running, version, started_at, seen_at)
VALUES (:id, :name, :queues, :operations, :concurrency, :running, :version, :now, :now)
ON CONFLICT (id) DO UPDATE SET running = excluded.running, seen_at = excluded.seen_at, stopped_at = NULL

-- name: stop_worker
UPDATE towpath.worker SET stopped_at = :now, running = 0 WHERE id = :id

-- name: workers
SELECT * FROM towpath.worker ORDER BY started_at

-- name: live_workers
SELECT * FROM towpath.worker WHERE stopped_at IS NULL AND seen_at > :since ORDER BY started_at

-- name: forget_workers
DELETE FROM towpath.worker WHERE seen_at < :before
