-- name: now
-- What time it is for a transaction.
SELECT now()

-- name: now_for_guest
-- The same for a caller's own transaction, whose statements may read whole tables; see `tx.py`.
SELECT now(), set_config('enable_seqscan', 'on', true)

-- name: capped_queues
SELECT name FROM towpath.queue WHERE max_slots IS NOT NULL

-- name: insert_events
WITH events AS (
    INSERT INTO towpath.event (job_id, seq, attempt, name, level, message, fields, ts)
    SELECT * FROM unnest(:ids::uuid[], :seqs::int[], :attempts::int[], :names::text[], :levels::text[], :messages::text[],
                         :fields::json[], :times::timestamptz[])
    RETURNING job_id, seq
), batches AS (
    INSERT INTO towpath.event_batch (seq, jobs) SELECT seq, array_agg(job_id) FROM events GROUP BY seq
)
SELECT pg_current_xact_id()::text AS xid

-- name: event_of
SELECT 1 AS found FROM towpath.event WHERE job_id = :job_id AND seq = :seq AND xid = :xid::text::xid8

-- name: advance
-- In one round trip, and nobody waits for the disk: a floor that a crash of the server takes back is one that has not risen
-- yet, and jobs that are stamped against it are found by the next sweep at the latest.
WITH eased AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), risen AS (
    INSERT INTO towpath.clock (queue, priority, floor)
    SELECT :queue, wanted.priority, wanted.floor
    FROM eased, unnest(:priorities::smallint[], :floors::float8[]) AS wanted (priority, floor)
    ORDER BY wanted.priority
    ON CONFLICT (queue, priority) DO UPDATE SET floor = excluded.floor WHERE clock.floor < excluded.floor
    RETURNING priority, floor
)
SELECT priority, max(floor) AS floor
FROM (SELECT priority, floor FROM risen UNION ALL SELECT priority, floor FROM towpath.clock WHERE queue = :queue) AS known
GROUP BY priority

-- name: renew
-- Locked in the order of ids first, like everybody else who touches several jobs.
WITH ours AS (
    SELECT job.id
    FROM unnest(:ids::uuid[], :attempts::int[]) AS held (id, attempt)
    JOIN towpath.job AS job ON job.id = ANY (ARRAY[held.id]) AND job.attempt = held.attempt
    WHERE job.state = 'running' AND job.leased AND job.worker_id = :worker_id
    ORDER BY held.id FOR UPDATE OF job
)
UPDATE towpath.job SET lease_until = clock_timestamp() + make_interval(secs => :lease)
WHERE id = ANY (ARRAY (SELECT id FROM ours))
RETURNING id
