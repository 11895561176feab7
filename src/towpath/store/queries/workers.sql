-- name: put_worker
INSERT INTO towpath.worker
    (id, name, queues, operations, concurrency, running, version, process, started_at, seen_at, alive_until)
VALUES (:id, :name, :queues, :operations, :concurrency, :running, :version, :process, :now, :now, :alive_until)
ON CONFLICT (id) DO UPDATE
SET running = excluded.running, seen_at = excluded.seen_at, alive_until = excluded.alive_until, stopped_at = NULL

-- name: stop_worker
UPDATE towpath.worker SET stopped_at = :now, running = 0 WHERE id = :id

-- name: workers
SELECT * FROM towpath.worker ORDER BY started_at

-- name: unstopped_workers
SELECT * FROM towpath.worker WHERE stopped_at IS NULL ORDER BY started_at

-- name: perhaps_alive
-- Every worker that may be alive, and hardly any other. This only keeps the answer small; which of them are alive is decided by
-- `liveness.py`, where the rule is.
SELECT * FROM towpath.worker
WHERE stopped_at IS NULL AND (alive_until > :now OR (alive_until IS NULL AND seen_at > :since)) ORDER BY started_at

-- name: forget_workers
DELETE FROM towpath.worker WHERE seen_at < :before
