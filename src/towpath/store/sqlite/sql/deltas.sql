-- The stream of events in deltas: a cursor is the number of the last batch. Jobs that are gone are in it as an event of their
-- own. Within a delta the order is by job, so that a place in it does not depend on which other jobs there are.

-- name: stream_identity
SELECT CAST(applied_at AS text) AS identity FROM towpath.migration WHERE slice = 'engine' AND number = 1

-- name: stream_now
SELECT CAST(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'towpath_event_batch'), 0) AS text) AS cursor

-- name: stream_fits
-- Whether the cursor can have come from here: it is not ahead of us.
SELECT CAST(:cursor AS integer) <= coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'towpath_event_batch'), 0) AS fits

-- name: stream_end
-- Where a delta of about :limit events ends, if it need not go as far as `until`.
SELECT CAST(coalesce((SELECT xid FROM (SELECT xid, sum(json_array_length(jobs)) OVER (ORDER BY xid) AS so_far
                                       FROM (SELECT xid, jobs FROM towpath.event_batch
                                             WHERE xid > CAST(:since AS integer) AND xid <= CAST(:until AS integer)
                                             ORDER BY xid LIMIT :limit))
                      WHERE so_far >= :limit ORDER BY xid LIMIT 1), :until) AS text) AS cursor

-- name: stream_stragglers
-- Never a row: writers take turns here, so what is committed later never belongs before what was read. The conditions are there because
-- the query is asked with these parameters, as on PostgreSQL, where there can be one.
SELECT :since AS cursor WHERE :since = :upto AND :since <> :until AND false

-- name: stream_delta
-- Batches say which events there are, and `job_event` what they are. Those of jobs that are gone have left the stream.
WITH listed AS MATERIALIZED (
    SELECT each.value AS job_id, batch.seq FROM towpath.event_batch AS batch CROSS JOIN json_each(batch.jobs) AS each
    WHERE batch.xid > CAST(:since AS integer) AND batch.xid <= CAST(:upto AS integer)
      AND (each.value, batch.seq) > (:job, :seq) AND (:only IS NULL OR each.value = :only)
)
SELECT job_id, seq, attempt, name, level, message, ts,
       CASE WHEN octet_length(fields) > :most_bytes THEN '{"truncated": true, "bytes": ' || octet_length(fields) || '}'
            ELSE fields END AS fields
FROM towpath.job_event
WHERE job_id IN (SELECT job_id FROM listed) AND (job_id, seq) IN (SELECT job_id, seq FROM listed)
ORDER BY job_id, seq LIMIT :limit
