-- name: keep_starts
-- Makes events of first starts that only the jobs' rows tell of, and are about to forget. Streams have told of them already, so no
-- batch lists these events.
INSERT INTO towpath.event (job_id, seq, attempt, name, ts, xid)
SELECT id, 2, 1, 'job.started', started_at, started_xid FROM towpath.job
WHERE id IN :ids AND started_xid IS NOT NULL AND started_at IS NOT NULL
ON CONFLICT DO NOTHING

-- name: old_batches
-- The number of the last batch that is old enough, among the next :limit after a place; NULL if none is. Numbers and times are nearly in the
-- same order: one before it may be a little younger.
SELECT CAST(max(CAST(CAST(xid AS text) AS bigint)) AS text) AS upto
FROM (SELECT xid, ts FROM towpath.event_batch WHERE xid > :after::text::xid8 ORDER BY xid LIMIT :limit) AS page
WHERE ts < :before

-- name: forget_batches
DELETE FROM towpath.event_batch WHERE xid > :after::text::xid8 AND xid <= :upto::text::xid8
