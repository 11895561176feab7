-- Jobs that are gone. The stream of events tells of them.

-- name: bury
INSERT INTO towpath.tombstone (job_id, tenant, at, subject_kind, subject_id)
SELECT id, tenant, CAST(:now AS timestamptz), subject_kind, subject_id FROM towpath.job WHERE id IN :ids
ON CONFLICT DO NOTHING

-- name: list_deleted
INSERT INTO towpath.event_batch (ts, seq, jobs) VALUES (:now, {deleted_seq}, :ids)

-- name: forget_tombstones
DELETE FROM towpath.tombstone
WHERE job_id IN (SELECT job_id FROM towpath.tombstone WHERE at < :before ORDER BY at LIMIT :limit)

-- name: raise_floor
-- One that lies ahead was raised before the clock was moved back: until now anything may be gone.
INSERT INTO towpath.upkeep AS known (name, done_until) VALUES ('streams', :until)
ON CONFLICT (name) DO UPDATE SET done_until = CASE WHEN known.done_until > :now THEN :now ELSE excluded.done_until END
WHERE known.done_until IS NULL OR known.done_until < excluded.done_until OR known.done_until > :now

-- name: take_turn
-- Zero rows: somebody else has done it lately. What was done far ahead was done before the clock was moved back.
INSERT INTO towpath.upkeep AS known (name, done_until) VALUES (:name, :now)
ON CONFLICT (name) DO UPDATE SET done_until = excluded.done_until
WHERE known.done_until IS NULL OR known.done_until < :before OR known.done_until > :ahead

-- name: tenant_of_deleted
SELECT tenant FROM towpath.tombstone WHERE job_id = :job_id

-- name: streamed_jobs
-- The rows as streams show them: without what may be large in them.
SELECT {light_job_columns}
FROM towpath.job WHERE id IN :ids
