-- name: fleet_worker_add
INSERT INTO towpath.fleet_worker (id, name, tenant, via, hash, prefix, created_by, created_at)
VALUES (:id, :name, :tenant, 'https', :hash, :prefix, :created_by, :now)

-- name: fleet_worker_by_hash
SELECT id, name, tenant FROM towpath.fleet_worker WHERE hash = :hash AND revoked_at IS NULL

-- name: fleet_workers_by_id
SELECT id, name, tenant, via, prefix, created_by, created_at, revoked_at, seen_at, host, version, slots, busy, operations
FROM towpath.fleet_worker WHERE id IN :ids

-- name: fleet_workers_page
SELECT id, name, tenant, via, prefix, created_by, created_at, revoked_at, seen_at, host, version, slots, busy, operations
FROM towpath.fleet_worker
WHERE id < :before AND (revoked_at IS NULL OR seen_at > :since) AND (via = 'https' OR seen_at > :since)
ORDER BY id DESC LIMIT :limit

-- name: fleet_worker_revoke
UPDATE towpath.fleet_worker SET revoked_at = coalesce(revoked_at, :now), hash = NULL WHERE id = :id AND via = 'https'

-- name: fleet_worker_seen
UPDATE towpath.fleet_worker
SET seen_at = :now, host = :host, version = :version, slots = :slots, busy = :busy, operations = :operations
WHERE id = :id AND revoked_at IS NULL

-- name: fleet_worker_heard_of
-- A worker that is known by a queue only.
INSERT INTO towpath.fleet_worker (id, name, via, created_at, seen_at, host, version, slots, busy, operations)
VALUES (:id, :name, 'queue', :now, :now, :host, :version, :slots, :busy, :operations)
ON CONFLICT (id) DO UPDATE
SET seen_at = excluded.seen_at, host = excluded.host, version = excluded.version, slots = excluded.slots, busy = excluded.busy,
    operations = excluded.operations
WHERE towpath.fleet_worker.via = 'queue'

-- name: fleet_worker_came
-- Whoever has not been known to be there, and is heard of; it is told of then.
UPDATE towpath.fleet_worker SET present = 1 WHERE id = :id AND present = 0 AND revoked_at IS NULL

-- name: fleet_workers_silent
SELECT id FROM towpath.fleet_worker WHERE present = 1 AND (seen_at <= :since OR revoked_at IS NOT NULL) ORDER BY id LIMIT :limit

-- name: fleet_worker_went
UPDATE towpath.fleet_worker SET present = 0
WHERE id = :id AND present = 1 AND (seen_at <= :since OR revoked_at IS NOT NULL)

-- name: fleet_slots
SELECT coalesce(sum(slots), 0) AS slots FROM towpath.fleet_worker WHERE seen_at > :since AND revoked_at IS NULL

-- name: fleet_worker_sums
-- What each worker came to with what was sent since then.
SELECT worker_id, outcome, count(*) AS attempts FROM towpath.fleet_dispatch
WHERE made_at >= :since AND worker_id IS NOT NULL GROUP BY worker_id, outcome

-- name: fleet_worker_times
SELECT worker_id, claimed_at, ended_at FROM towpath.fleet_dispatch
WHERE made_at >= :since AND worker_id IS NOT NULL AND claimed_at IS NOT NULL AND ended_at IS NOT NULL
ORDER BY made_at DESC LIMIT :limit

-- name: fleet_attempts
-- What was sent since then, newest first; what statistics are made of.
SELECT task_id, attempt, tenant, operation, worker_id, made_at, sent_at, claimed_at, reported_at, ended_at, outcome, kind, reason
FROM towpath.fleet_dispatch
WHERE made_at >= :since AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
ORDER BY made_at DESC, task_id LIMIT :limit

-- name: fleet_worker_touch
UPDATE towpath.fleet_worker SET seen_at = :now WHERE id = :id AND (seen_at IS NULL OR seen_at < :before)

-- name: fleet_workers_busy
SELECT worker_id, count(*) AS busy FROM towpath.fleet_dispatch
WHERE report IS NULL AND ended_at IS NULL AND claimed_at IS NOT NULL AND worker_id IS NOT NULL GROUP BY worker_id
