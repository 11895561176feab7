-- name: keep_starts
-- Of jobs whose rows are about to forget when they were started. Streams have been told already.
INSERT INTO towpath.event (job_id, seq, attempt, name, ts, xid, kept)
SELECT id, 2, 1, 'job.started', started_at, begun_in, true FROM towpath.job
WHERE id IN :ids AND begun_in IS NOT NULL AND started_at IS NOT NULL
ON CONFLICT DO NOTHING

-- name: feed_page
-- Where the first rows of the feed after a place end that are old enough. Numbers and times are in the same order, nearly.
SELECT CAST(max(CAST(CAST(xid AS text) AS bigint)) AS text) AS upto
FROM (SELECT xid, ts FROM towpath.feed WHERE xid > :after::text::xid8 ORDER BY xid LIMIT :limit) AS page WHERE ts < :before

-- name: forget_feed
DELETE FROM towpath.feed
WHERE xid > :after::text::xid8 AND xid <= :upto::text::xid8
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text)) AND NOT queue IN :but_not
