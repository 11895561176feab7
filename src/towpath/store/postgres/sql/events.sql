-- name: keep_starts
-- Of jobs whose rows are about to forget when they were started. Streams have been told already, so no batch lists it again.
INSERT INTO towpath.event (job_id, seq, attempt, name, ts, xid)
SELECT id, 2, 1, 'job.started', started_at, started_xid FROM towpath.job
WHERE id IN :ids AND started_xid IS NOT NULL AND started_at IS NOT NULL
ON CONFLICT DO NOTHING

-- name: old_batches
-- Where the first batches after a place end that are old enough. Numbers and times are in the same order, nearly.
SELECT CAST(max(CAST(CAST(xid AS text) AS bigint)) AS text) AS upto
FROM (SELECT xid, ts FROM towpath.event_batch WHERE xid > :after::text::xid8 ORDER BY xid LIMIT :limit) AS page
WHERE ts < :before

-- name: forget_batches
DELETE FROM towpath.event_batch WHERE xid > :after::text::xid8 AND xid <= :upto::text::xid8
