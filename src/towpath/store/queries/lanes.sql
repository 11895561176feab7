-- name: floors
SELECT queue, priority, floor FROM towpath.clock WHERE queue = :queue

-- name: lock_lane
SELECT * FROM towpath.lane WHERE queue = :queue AND lane = :lane FOR UPDATE

-- name: lanes
SELECT * FROM towpath.lane WHERE queue = :queue ORDER BY lane

-- name: lanes_to_tend
SELECT queue, lane FROM towpath.lane
WHERE max_slots IS NOT NULL OR max_roots IS NOT NULL OR updated_at > :since
ORDER BY queue, lane

-- name: put_lane
INSERT INTO towpath.lane (queue, lane, weight, max_slots, max_roots, updated_at)
VALUES (:queue, :lane, :weight, :max_slots, :max_roots, :now)
ON CONFLICT (queue, lane) DO UPDATE
SET weight = excluded.weight, max_slots = excluded.max_slots, max_roots = excluded.max_roots,
    updated_at = excluded.updated_at

-- name: lane_slots_used
SELECT count(*) AS used FROM towpath.job
WHERE queue = :queue AND lane = :lane AND NOT parked AND gate > 0
  AND (ready OR leased)

-- name: lane_slots_running
SELECT count(*) AS used FROM towpath.job
WHERE queue = :queue AND lane = :lane AND NOT parked AND gate > 0 AND leased

-- name: lane_roots_open
SELECT count(*) AS used FROM towpath.job
WHERE queue = :queue AND lane = :lane AND NOT parked AND gate > 0 AND parent_id IS NULL
  AND state IN ('queued', 'running', 'waiting') AND (ready OR attempt > 0)

-- name: parked_jobs
SELECT * FROM towpath.job
WHERE queue = :queue AND lane = :lane AND parked AND gate > 0
ORDER BY priority, (attempt = 0), id LIMIT :limit FOR UPDATE SKIP LOCKED

-- name: lane_ready_last
SELECT * FROM towpath.job
WHERE queue = :queue AND lane = :lane AND NOT parked AND gate > 0
  AND ready
ORDER BY priority DESC, pass DESC LIMIT :limit FOR UPDATE SKIP LOCKED

-- name: unpark_lane
SELECT * FROM towpath.job
WHERE queue = :queue AND lane = :lane AND state = 'queued' AND parked
ORDER BY id FOR UPDATE

-- name: unbegun_ready_roots
SELECT * FROM towpath.job
WHERE queue = :queue AND lane = :lane AND ready AND parent_id IS NULL AND attempt = 0
ORDER BY CAST(id AS text) COLLATE "C" FOR UPDATE SKIP LOCKED

-- name: parked_children
SELECT * FROM towpath.job
WHERE queue = :queue AND lane = :lane AND parked AND gate > 0
  AND parent_id IS NOT NULL
ORDER BY CAST(id AS text) COLLATE "C" FOR UPDATE SKIP LOCKED

-- name: stray_ready
-- Strays are jobs that got past a new cap, because whoever enqueued them had not seen it yet. They do not count for it until they are
-- caught.
SELECT * FROM towpath.job
WHERE queue = :queue AND priority IN (0, 1, 2, 3) AND lane = :lane AND ready AND gate <> :gate
ORDER BY CAST(id AS text) COLLATE "C" FOR UPDATE SKIP LOCKED

-- name: stray_leased
SELECT * FROM towpath.job
WHERE lane = :lane AND leased AND gate <> :gate AND id IN (SELECT job_id FROM towpath.lease WHERE queue = :queue)
ORDER BY id FOR UPDATE SKIP LOCKED

-- name: regate_lane
UPDATE towpath.job SET gate = :gate
WHERE queue = :queue AND lane = :lane AND gate <> :gate
  AND (leased OR state IN ('queued', 'running', 'waiting'))
