-- Jobs that are gone, and things that were changed without one. The stream of events tells of them.

-- name: bury
INSERT INTO towpath.tombstone (job_id, tenant, at, subject_kind, subject_id)
SELECT id, tenant, CAST(:now AS timestamptz), subject_kind, subject_id FROM towpath.job WHERE id IN :ids
ON CONFLICT DO NOTHING

-- name: notice_add
INSERT INTO towpath.notice (id, tenant, at, subject_kind, subject_id) VALUES (:id, :tenant, :now, :kind, :subject_id)

-- name: list_last
-- The last event that each of them can have.
INSERT INTO towpath.event_batch (ts, seq, jobs) VALUES (:now, 2147483647, :ids)

-- name: forget_tombstones
DELETE FROM towpath.tombstone
WHERE job_id IN (SELECT job_id FROM towpath.tombstone WHERE at < :before ORDER BY at LIMIT :limit)

-- name: forget_notices
DELETE FROM towpath.notice WHERE id IN (SELECT id FROM towpath.notice WHERE at < :before ORDER BY at LIMIT :limit)

-- name: raise_floor
-- The floor of the streams: what happened before it may be gone, and whoever comes back from before it starts over. It only rises, with
-- one exception: if it lies in the future, the clock was moved back since. Then it becomes now, for anything up to now may be gone.
INSERT INTO towpath.upkeep AS known (name, done_until) VALUES ('streams', :until)
ON CONFLICT (name) DO UPDATE SET done_until = CASE WHEN known.done_until > :now THEN :now ELSE excluded.done_until END
WHERE known.done_until IS NULL OR known.done_until < excluded.done_until OR known.done_until > :now

-- name: take_turn
-- For work that one process at a time does now and then. No row is written if somebody has done it since :before. A time beyond :ahead
-- does not count: it was written before the clock was moved back.
INSERT INTO towpath.upkeep AS known (name, done_until) VALUES (:name, :now)
ON CONFLICT (name) DO UPDATE SET done_until = excluded.done_until
WHERE known.done_until IS NULL OR known.done_until < :before OR known.done_until > :ahead

-- name: tenant_of_deleted
SELECT tenant FROM towpath.tombstone WHERE job_id = :job_id

-- name: streamed_jobs
-- The rows as streams show them: without what may be large in them.
SELECT {light_job_columns}
FROM towpath.job WHERE id IN :ids
