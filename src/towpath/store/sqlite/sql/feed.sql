-- name: keep_starts
-- Of jobs whose rows are about to forget when they were started. Streams have been told already: numbers below 0 are no part
-- of them.
INSERT INTO towpath.event (id, job_id, seq, attempt, name, ts)
SELECT (SELECT min(0, coalesce(min(id), 0)) FROM towpath.event) - row_number() OVER (), id, 2, 1, 'job.started', started_at
FROM towpath.job WHERE id IN :ids AND started_at IS NOT NULL
ON CONFLICT DO NOTHING

-- name: feed_page
-- Where the first rows after a place end that are old enough. Numbers and times are in the same order.
SELECT CAST(max(id) AS text) AS upto
FROM (SELECT id, ts FROM towpath.event WHERE id > CAST(:after AS integer) ORDER BY id LIMIT :limit) WHERE ts < :before

-- name: forget_feed
DELETE FROM towpath.event
WHERE id > CAST(:after AS integer) AND id <= CAST(:upto AS integer) AND jobs IS NOT NULL
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text)) AND NOT queue IN :but_not
