-- name: keep_starts
-- Makes events of first starts that only the jobs' rows tell of, and are about to forget. Streams have told of them already, so no
-- batch lists these events.
INSERT INTO towpath.event (job_id, seq, attempt, name, ts)
SELECT id, 2, 1, 'job.started', started_at FROM towpath.job WHERE id IN :ids AND started_at IS NOT NULL
ON CONFLICT DO NOTHING

-- name: old_batches
-- The number of the last batch that is old enough, among the next :limit after a place; NULL if none is. Numbers and times are in the same
-- order, so that all before it are old enough, too.
SELECT CAST(max(xid) AS text) AS upto
FROM (SELECT xid, ts FROM towpath.event_batch WHERE xid > CAST(:after AS integer) ORDER BY xid LIMIT :limit)
WHERE ts < :before

-- name: forget_batches
DELETE FROM towpath.event_batch WHERE xid > CAST(:after AS integer) AND xid <= CAST(:upto AS integer)
