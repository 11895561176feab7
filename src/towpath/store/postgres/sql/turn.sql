-- A worker's turn: the plain successes it brings, and the jobs it takes. Either may be missing: without endings it is a claim, with
-- a limit of 0 it only settles. One statement is one commit.

-- fragment: ended
-- Ids and attempts travel as one text each: the driver looks at every item of an array several times. Each job has the time
-- at which it is written: if its lock was waited for, the time after that. `= ANY (ARRAY[…])`, here and below, because a join
-- by `=` may also begin with all jobs, if the planner believes that there are none.
UPDATE towpath.job AS job
SET state = {after_succeed}, leased = false, lease_until = NULL, worker_id = NULL, reason = NULL, finished_at = clock_timestamp(),
    result = asked.result, error = NULL, error_kind = NULL, error_group = NULL, live_key = NULL, seq = job.seq + 1
FROM unnest(string_to_array(:ids::text, ',')::uuid[], string_to_array(:attempts::text, ',')::int[], :results::json[])
     AS asked (id, attempt, result)
WHERE job.id = ANY (ARRAY[asked.id]) AND job.attempt = asked.attempt AND job.state = {after_claim}
  AND job.parent_id IS NULL AND job.gate = 0 AND job.children_total = 0
RETURNING job.id, job.seq, job.attempt, job.queue, job.operation, job.started_at, job.finished_at

-- fragment: first_in_line
-- The ids of the first jobs in fair order, each band from its cursor on. Nothing is taken from a queue that is paused, or that has a
-- cap, unless whoever asks has counted. It waits for the settles: they may have to wait for a lock, and whoever waits should
-- not hold newly claimed jobs meanwhile.
SELECT ahead.id
FROM unnest(string_to_array(:bands::text, ',')::smallint[], string_to_array(:cursors::text, ',')::float8[],
            string_to_array(:after::text, ',')::uuid[]) AS band (priority, cursor, after),
     LATERAL (SELECT id FROM towpath.job
              WHERE queue = :queue AND priority = band.priority AND ready AND (pass, id) >= (band.cursor, band.after)
                AND state IN ({before_claim})
              ORDER BY pass, id LIMIT :limit FOR UPDATE SKIP LOCKED) AS ahead
WHERE NOT EXISTS (SELECT 1 FROM towpath.queue AS q
                  WHERE q.name = :queue AND (q.paused OR (q.max_slots IS NOT NULL AND NOT :counted::boolean)))
LIMIT CASE WHEN (SELECT jobs FROM settled) >= 0 THEN :limit END

-- fragment: picked
UPDATE towpath.job
SET state = {after_claim}, ready = false, reason = NULL, leased = true, worker_id = :worker_id,
    lease_until = (SELECT at FROM begun) + make_interval(secs => :lease), attempt = attempt + 1, seq = seq + 1,
    started_at = coalesce(started_at, (SELECT at FROM begun)),
    started_xid = CASE WHEN seq = 1 AND attempt = 0 THEN pg_current_xact_id() ELSE started_xid END
WHERE id = ANY (ARRAY ({first_in_line}))
RETURNING {claimed}, CASE WHEN {claimed_if_unlike} THEN {claimed_more} END AS more, seq, coalesce(due_at, created_at) AS due_since

-- fragment: turn_recorded
-- What is recorded beside the jobs: the leases, the events and the counts.
freed AS (
    DELETE FROM towpath.lease WHERE job_id = ANY (ARRAY (SELECT id FROM ended))
), leased AS (
    INSERT INTO towpath.lease (job_id, queue) SELECT id, :queue FROM picked
), events AS (
    INSERT INTO towpath.event (job_id, seq, attempt, name, ts)
    SELECT id, seq, attempt, 'job.started', (SELECT at FROM begun) FROM picked WHERE seq > 2 OR attempt > 1
), batches AS (
    INSERT INTO towpath.event_batch (seq, jobs)
    SELECT seq, array_agg(id) FROM ended GROUP BY seq
    UNION ALL
    SELECT seq, array_agg(id) FROM picked GROUP BY seq
), counted AS (
    INSERT INTO towpath.count_delta (queue, operation, started, queued, running, wait_seconds, waits, succeeded, run_seconds, runs)
    SELECT queue, operation, count(started), -count(started), 2 * count(started) - count(*), coalesce(sum(waited), 0),
           array_agg(waited::real) FILTER (WHERE waited IS NOT NULL), count(*) - count(started), coalesce(sum(ran), 0),
           array_agg(ran::real) FILTER (WHERE ran IS NOT NULL)
    FROM (SELECT :queue AS queue, operation, attempt AS started,
                 CASE WHEN attempt = 1 THEN date_part('epoch', (SELECT at FROM begun) - due_since) END AS waited, NULL::float8 AS ran
          FROM picked
          UNION ALL
          SELECT queue, operation, NULL, NULL, date_part('epoch', finished_at - started_at) FROM ended) AS jobs
    GROUP BY queue, operation
)

-- name: turn
-- A row for each job it takes, and a last one without a job, which says how many were settled, and which, if that is not all.
-- The time of the claim is asked for when the first job is written, which is after their locks, and not before.
WITH ended AS (
    {ended}
), settled AS MATERIALIZED (
    SELECT count(*)::int AS jobs, CASE WHEN count(*) < :asked::int THEN json_agg(id) END AS ids FROM ended
), begun AS MATERIALIZED (
    SELECT clock_timestamp() AS at
), picked AS (
    {picked}
), {turn_recorded}
SELECT {claimed}, more, NULL::int AS settled, NULL::json AS settled_ids FROM picked
UNION ALL
SELECT {nothing_claimed}, NULL, settled.jobs, settled.ids FROM settled
