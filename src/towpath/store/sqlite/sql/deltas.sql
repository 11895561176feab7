-- The stream of events in deltas: a cursor is `<last event>-<last tombstone>`. Jobs that are gone are in it as an event of
-- their own. Within a delta the order is by job, so that a place in it does not depend on which other jobs there are.

-- name: stream_identity
SELECT CAST(applied_at AS text) AS identity FROM towpath.migration WHERE slice = 'engine' AND number = 1

-- name: stream_now
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'towpath_event'), 0) || '-' ||
       coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'towpath_tombstone'), 0) AS cursor

-- name: stream_fits
-- Whether the cursor can have come from here: it is not ahead of us.
SELECT CAST(:cursor AS integer) <= coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'towpath_event'), 0)
   AND CAST(substr(:cursor, instr(:cursor, '-') + 1) AS integer)
       <= coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'towpath_tombstone'), 0) AS fits

-- name: stream_end
-- Where a delta of about :limit events ends, if it need not go as far as `until`.
SELECT coalesce((SELECT id FROM (SELECT id, sum(coalesce(json_array_length(jobs), 1)) OVER (ORDER BY id) AS so_far
                                 FROM (SELECT id, jobs FROM towpath.event
                                       WHERE id > CAST(:since AS integer) AND id <= CAST(:until AS integer)
                                       ORDER BY id LIMIT :limit))
                 WHERE so_far >= :limit ORDER BY id LIMIT 1), CAST(:until AS integer)) || '-' ||
       coalesce((SELECT id FROM towpath.tombstone
                 WHERE id > CAST(substr(:since, instr(:since, '-') + 1) AS integer)
                   AND id <= CAST(substr(:until, instr(:until, '-') + 1) AS integer)
                 ORDER BY id LIMIT 1 OFFSET :limit - 1), CAST(substr(:until, instr(:until, '-') + 1) AS integer)) AS cursor

-- name: stream_stragglers
-- Writers take turns: nothing that is committed later belongs before what was read.
SELECT :since AS cursor WHERE :since = :upto AND :since <> :until AND false

-- name: stream_delta
WITH new AS MATERIALIZED (
    SELECT job_id, seq, attempt, name, level, message, fields, ts FROM towpath.told
    WHERE id > CAST(:since AS integer) AND id <= CAST(:upto AS integer)
    UNION ALL
    SELECT job_id, 2147483647, 0, 'job.deleted', 'info', tenant, NULL, at FROM towpath.tombstone
    WHERE id > CAST(substr(:since, instr(:since, '-') + 1) AS integer)
      AND id <= CAST(substr(:upto, instr(:upto, '-') + 1) AS integer)
)
SELECT job_id, seq, attempt, name, level, message, ts,
       CASE WHEN octet_length(fields) > :most_bytes THEN '{"truncated": true, "bytes": ' || octet_length(fields) || '}'
            ELSE fields END AS fields
FROM new
WHERE (job_id, seq) > (:job, :seq) AND (:only IS NULL OR job_id = :only)
ORDER BY job_id, seq LIMIT :limit
