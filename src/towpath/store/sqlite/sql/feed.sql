-- name: keep_starts
-- Of jobs whose rows are about to forget when they were started. Streams have been told already: numbers below 0 are no part
-- of them.
INSERT INTO towpath.event (id, job_id, seq, attempt, name, ts)
SELECT (SELECT min(0, coalesce(min(id), 0)) FROM towpath.event) - row_number() OVER (), id, 2, 1, 'job.started', started_at
FROM towpath.job WHERE id IN :ids AND started_at IS NOT NULL
ON CONFLICT DO NOTHING

-- name: forget_feed
DELETE FROM towpath.event WHERE id IN (
    SELECT id FROM towpath.event WHERE queue = :queue AND ts < :before ORDER BY ts LIMIT :limit)
