-- name: keep_starts
-- Of jobs whose rows are about to forget when they were started. Streams have been told already.
INSERT INTO towpath.event (job_id, seq, attempt, name, ts, xid, kept)
SELECT id, 2, 1, 'job.started', started_at, begun_in, true FROM towpath.job
WHERE id IN :ids AND begun_in IS NOT NULL AND started_at IS NOT NULL
ON CONFLICT DO NOTHING

-- name: forget_feed
DELETE FROM towpath.feed WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM towpath.feed WHERE queue = :queue AND ts < :before ORDER BY ts LIMIT :limit))
