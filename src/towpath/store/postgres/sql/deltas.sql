-- The stream of events in deltas: what is visible in one snapshot and was not in an earlier one. Jobs that are gone are in
-- it as an event of their own. Within a delta the order is by job, so that a place in it does not depend on which other
-- jobs there are.

-- name: stream_identity
SELECT applied_at::text || ' ' || (SELECT oid::text FROM pg_database WHERE datname = current_database()) AS identity
FROM towpath.migration WHERE slice = 'engine' AND number = 1 AND revision = 0

-- name: stream_now
SELECT pg_current_snapshot()::text AS cursor

-- name: stream_fits
-- Whether the cursor can have come from here: it is not ahead of us.
SELECT pg_snapshot_xmax(:cursor::text::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot()) AS fits

-- name: stream_end
-- Where a delta of about :limit events ends, if it need not go as far as `until`. One transaction is never cut.
SELECT coalesce((
    SELECT towpath.snapshot_below(:until::text::pg_snapshot,
                                  greatest(xid, (pg_snapshot_xmax(:since::text::pg_snapshot)::text::bigint + 1)::text::xid8))
    FROM (
        SELECT xid, sum(cardinality(jobs)) OVER (ORDER BY xid) AS so_far
        FROM (SELECT xid, jobs FROM towpath.event_batch
              WHERE xid >= pg_snapshot_xmax(:since::text::pg_snapshot) AND xid < pg_snapshot_xmax(:until::text::pg_snapshot)
                AND pg_visible_in_snapshot(xid, :until::text::pg_snapshot)
              ORDER BY xid LIMIT :limit + 1) AS new
    ) AS counted WHERE so_far > :limit ORDER BY xid LIMIT 1
), :until::text) AS cursor

-- name: stream_stragglers
-- A transaction that began earlier may have touched a job later. If the delta has such an event, it must go on to where
-- the job's events before it are, or they would come in the wrong order.
WITH listed AS MATERIALIZED (
    SELECT each.job_id, batch.seq FROM towpath.event_batch AS batch CROSS JOIN LATERAL unnest(batch.jobs) AS each (job_id)
    WHERE xid >= pg_snapshot_xmax(:since::text::pg_snapshot) AND xid < pg_snapshot_xmax(:upto::text::pg_snapshot)
      AND pg_visible_in_snapshot(xid, :upto::text::pg_snapshot)
    UNION ALL
    SELECT each.job_id, batch.seq FROM towpath.event_batch AS batch CROSS JOIN LATERAL unnest(batch.jobs) AS each (job_id)
    WHERE xid = ANY (ARRAY (SELECT pg_snapshot_xip(:since::text::pg_snapshot)))
      AND pg_visible_in_snapshot(xid, :upto::text::pg_snapshot)
), seen AS MATERIALIZED (
    SELECT job_id, max(seq) AS seq FROM listed GROUP BY job_id
)
SELECT towpath.snapshot_below(:until::text::pg_snapshot, (late.xid::text::bigint + 1)::text::xid8) AS cursor
FROM (
    SELECT own.xid
    FROM seen CROSS JOIN LATERAL (SELECT xid FROM towpath.event AS own
                                  WHERE own.job_id = seen.job_id AND own.seq < seen.seq OFFSET 0) AS own
    UNION ALL
    SELECT known.xid
    FROM seen CROSS JOIN LATERAL (SELECT created_xid, started_xid FROM towpath.job WHERE job.id = seen.job_id OFFSET 0) AS job
         CROSS JOIN LATERAL (VALUES (1, job.created_xid), (2, job.started_xid)) AS known (seq, xid)
    WHERE known.seq < seen.seq
) AS late
WHERE late.xid >= pg_snapshot_xmax(:upto::text::pg_snapshot)
ORDER BY late.xid DESC LIMIT 1

-- name: stream_delta
-- Batches say which events there are, and `job_event` what they are. Those of jobs that are gone have left the stream.
WITH listed AS MATERIALIZED (
    SELECT each.job_id, batch.seq FROM towpath.event_batch AS batch CROSS JOIN LATERAL unnest(batch.jobs) AS each (job_id)
    WHERE xid >= pg_snapshot_xmax(:since::text::pg_snapshot) AND xid < pg_snapshot_xmax(:upto::text::pg_snapshot)
      AND pg_visible_in_snapshot(xid, :upto::text::pg_snapshot)
    UNION ALL
    SELECT each.job_id, batch.seq FROM towpath.event_batch AS batch CROSS JOIN LATERAL unnest(batch.jobs) AS each (job_id)
    WHERE xid = ANY (ARRAY (SELECT pg_snapshot_xip(:since::text::pg_snapshot)))
      AND pg_visible_in_snapshot(xid, :upto::text::pg_snapshot)
)
SELECT event.job_id, event.seq, event.attempt, event.name, event.level, event.message, event.ts,
       CASE WHEN octet_length(event.fields::text) > :most_bytes::int
            THEN '{"truncated": true, "bytes": ' || octet_length(event.fields::text) || '}' ELSE event.fields::text END AS fields
FROM (SELECT job_id, seq FROM listed
      WHERE (job_id, seq) > (:job::uuid, :seq::int) AND (:only::uuid IS NULL OR job_id = :only::uuid)
      ORDER BY job_id, seq) AS listed
     CROSS JOIN LATERAL (SELECT job_id, seq, attempt, name, level, message, fields, ts FROM towpath.job_event AS event
                         WHERE event.job_id = listed.job_id AND event.seq = listed.seq OFFSET 0) AS event
ORDER BY event.job_id, event.seq LIMIT :limit
