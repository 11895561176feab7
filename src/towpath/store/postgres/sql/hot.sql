-- name: claim
-- The time is asked for when the first job is written, which is after their locks, and not before.
WITH begun AS MATERIALIZED (
    SELECT clock_timestamp() AS at
), picked AS (
    UPDATE towpath.job
    SET state = 'running', ready = false, reason = NULL, leased = true, worker_id = :worker_id,
        lease_until = (SELECT at FROM begun) + make_interval(secs => :lease), attempt = attempt + 1, seq = seq + 1,
        started_at = coalesce(started_at, (SELECT at FROM begun)),
        begun_in = CASE WHEN seq = 1 AND attempt = 0 THEN pg_current_xact_id() ELSE begun_in END
    WHERE id = ANY (ARRAY (
        SELECT ahead.id
        FROM unnest(string_to_array(:bands::text, ',')::smallint[], string_to_array(:cursors::text, ',')::float8[],
                    string_to_array(:after::text, ',')::uuid[]) AS band (priority, cursor, after),
             LATERAL (SELECT id FROM towpath.job
                      WHERE queue = :queue AND priority = band.priority AND ready AND (pass, id) >= (band.cursor, band.after)
                      ORDER BY pass, id LIMIT :limit FOR UPDATE SKIP LOCKED) AS ahead
        WHERE NOT EXISTS (SELECT 1 FROM towpath.queue AS q
                          WHERE q.name = :queue AND (q.paused OR (q.max_slots IS NOT NULL AND NOT :counted::boolean)))
        LIMIT :limit))
    RETURNING id, operation, tenant, priority, pass, attempt, max_attempts, payload,
              CASE WHEN lane <> tenant OR parent_id IS NOT NULL OR root_id <> id OR failures > 0 OR retry_laters > 0 OR wakes > 0
                     OR steps > 0 OR gate <> 0 OR children_total > 0 OR await_group IS NOT NULL OR await_open > 0
                     OR progress_current IS NOT NULL OR progress_total IS NOT NULL OR trace IS NOT NULL
                   THEN json_build_array(lane, root_id, parent_id, failures, retry_laters, wakes, steps, gate, children_total,
                                         await_group, await_open, progress_current, progress_total, trace) END AS more,
              seq, coalesce(due_at, created_at) AS due_since
), leased AS (
    INSERT INTO towpath.lease (id, worker_id, queue, jobs, until)
    SELECT :lease_id, :worker_id, :queue, array_agg(id), (SELECT at FROM begun) + make_interval(secs => :lease)
    FROM picked HAVING count(*) > 0
), told AS (
    INSERT INTO towpath.event (job_id, seq, attempt, name, ts)
    SELECT id, seq, attempt, 'job.started', (SELECT at FROM begun) FROM picked WHERE seq > 2 OR attempt > 1
), fed AS (
    INSERT INTO towpath.feed (queue, name, seq, attempt, jobs, ts)
    SELECT :queue, 'job.started', 2, 1, array_agg(id), (SELECT at FROM begun) FROM picked
    WHERE seq = 2 AND attempt = 1 HAVING count(*) > 0
), counted AS (
    INSERT INTO towpath.tally (queue, operation, started, queued, running, wait_seconds, waits)
    SELECT :queue, operation, count(*), -count(*), count(*), coalesce(sum(waited) FILTER (WHERE attempt = 1), 0),
           array_agg(waited::real) FILTER (WHERE attempt = 1)
    FROM (SELECT *, date_part('epoch', (SELECT at FROM begun) - due_since) AS waited FROM picked) AS picked GROUP BY operation
)
SELECT id, operation, tenant, priority, pass, attempt, max_attempts, payload, more FROM picked

-- name: succeed_many
-- Ids and attempts travel as one text each: the driver looks at every item of an array several times. Each job has the time
-- at which it is written: if its lock was waited for, the time after that. `= ANY (ARRAY[…])`, here and below, because a join
-- by `=` may also begin with all jobs, if the planner believes that there are none.
WITH ended AS (
    UPDATE towpath.job AS job
    SET state = 'succeeded', leased = false, lease_until = NULL, worker_id = NULL, reason = NULL, finished_at = clock_timestamp(),
        result = asked.result, error = NULL, error_kind = NULL, error_group = NULL, live_key = NULL, seq = job.seq + 1
    FROM unnest(string_to_array(:ids::text, ',')::uuid[], string_to_array(:attempts::text, ',')::int[], :results::json[])
         AS asked (id, attempt, result)
    WHERE job.id = ANY (ARRAY[asked.id]) AND job.attempt = asked.attempt AND job.state = 'running'
      AND job.parent_id IS NULL AND job.gate = 0 AND job.children_total = 0
    RETURNING job.id, job.seq, job.attempt, job.queue, job.operation, job.started_at, job.finished_at
), fed AS (
    INSERT INTO towpath.feed (queue, name, seq, attempt, jobs, ts)
    SELECT queue, 'job.succeeded', seq, attempt, array_agg(id), max(finished_at) FROM ended GROUP BY queue, seq, attempt
), counted AS (
    INSERT INTO towpath.tally (queue, operation, succeeded, running, run_seconds, runs)
    SELECT queue, operation, count(*), -count(*), sum(ran), array_agg(ran::real)
    FROM (SELECT *, date_part('epoch', finished_at - started_at) AS ran FROM ended) AS ended GROUP BY queue, operation
)
SELECT id FROM ended

-- name: turn
-- succeed_many and claim in one statement, so in one commit. The settle comes first (that is what `settled` is for): it may
-- have to wait for a lock, and whoever waits should not hold newly claimed jobs meanwhile. The last row has no id: it says
-- how many were settled, and which ones if that is not all.
WITH ended AS (
    UPDATE towpath.job AS job
    SET state = 'succeeded', leased = false, lease_until = NULL, worker_id = NULL, reason = NULL, finished_at = clock_timestamp(),
        result = asked.result, error = NULL, error_kind = NULL, error_group = NULL, live_key = NULL, seq = job.seq + 1
    FROM unnest(string_to_array(:ids::text, ',')::uuid[], string_to_array(:attempts::text, ',')::int[], :results::json[])
         AS asked (id, attempt, result)
    WHERE job.id = ANY (ARRAY[asked.id]) AND job.attempt = asked.attempt AND job.state = 'running'
      AND job.parent_id IS NULL AND job.gate = 0 AND job.children_total = 0
    RETURNING job.id, job.seq, job.attempt, job.queue, job.operation, job.started_at, job.finished_at
), settled AS MATERIALIZED (
    SELECT count(*) AS jobs FROM ended
), begun AS MATERIALIZED (
    SELECT clock_timestamp() AS at
), picked AS (
    UPDATE towpath.job
    SET state = 'running', ready = false, reason = NULL, leased = true, worker_id = :worker_id,
        lease_until = (SELECT at FROM begun) + make_interval(secs => :lease), attempt = attempt + 1, seq = seq + 1,
        started_at = coalesce(started_at, (SELECT at FROM begun)),
        begun_in = CASE WHEN seq = 1 AND attempt = 0 THEN pg_current_xact_id() ELSE begun_in END
    WHERE id = ANY (ARRAY (
        SELECT ahead.id
        FROM unnest(string_to_array(:bands::text, ',')::smallint[], string_to_array(:cursors::text, ',')::float8[],
                    string_to_array(:after::text, ',')::uuid[]) AS band (priority, cursor, after),
             LATERAL (SELECT id FROM towpath.job
                      WHERE queue = :queue AND priority = band.priority AND ready AND (pass, id) >= (band.cursor, band.after)
                      ORDER BY pass, id LIMIT :limit FOR UPDATE SKIP LOCKED) AS ahead
        WHERE NOT EXISTS (SELECT 1 FROM towpath.queue AS q
                          WHERE q.name = :queue AND (q.paused OR (q.max_slots IS NOT NULL AND NOT :counted::boolean)))
        LIMIT CASE WHEN (SELECT jobs FROM settled) >= 0 THEN :limit END))
    RETURNING id, operation, tenant, priority, pass, attempt, max_attempts, payload,
              CASE WHEN lane <> tenant OR parent_id IS NOT NULL OR root_id <> id OR failures > 0 OR retry_laters > 0 OR wakes > 0
                     OR steps > 0 OR gate <> 0 OR children_total > 0 OR await_group IS NOT NULL OR await_open > 0
                     OR progress_current IS NOT NULL OR progress_total IS NOT NULL OR trace IS NOT NULL
                   THEN json_build_array(lane, root_id, parent_id, failures, retry_laters, wakes, steps, gate, children_total,
                                         await_group, await_open, progress_current, progress_total, trace) END AS more,
              seq, coalesce(due_at, created_at) AS due_since
), leased AS (
    INSERT INTO towpath.lease (id, worker_id, queue, jobs, until)
    SELECT :lease_id, :worker_id, :queue, array_agg(id), (SELECT at FROM begun) + make_interval(secs => :lease)
    FROM picked HAVING count(*) > 0
), told AS (
    INSERT INTO towpath.event (job_id, seq, attempt, name, ts)
    SELECT id, seq, attempt, 'job.started', (SELECT at FROM begun) FROM picked WHERE seq > 2 OR attempt > 1
), fed AS (
    INSERT INTO towpath.feed (queue, name, seq, attempt, jobs, ts)
    SELECT queue, 'job.succeeded', seq, attempt, array_agg(id), max(finished_at) FROM ended GROUP BY queue, seq, attempt
    UNION ALL
    SELECT :queue, 'job.started', 2, 1, array_agg(id), (SELECT at FROM begun) FROM picked
    WHERE seq = 2 AND attempt = 1 HAVING count(*) > 0
), counted AS (
    INSERT INTO towpath.tally (queue, operation, started, queued, running, wait_seconds, waits, succeeded, run_seconds, runs)
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
SELECT id, operation, tenant, priority, pass, attempt, max_attempts, payload, more FROM picked
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, settled.jobs::int, NULL, NULL,
       (SELECT json_agg(id) FROM ended WHERE settled.jobs < :asked::int)
FROM settled

-- name: insert_jobs
-- Only what becomes ready spends its lane's turn: neither a scheduled job nor one whose key is held already.
WITH asked AS MATERIALIZED (
    SELECT *, coalesce(sum(cost) FILTER (WHERE due IS NULL AND NOT held)
                       OVER (PARTITION BY queue, priority, lane ORDER BY nth), 0) AS spent
    FROM (SELECT *,
                 CASE WHEN coalesce(run_at, now() + make_interval(secs => delay)) > now()
                      THEN coalesce(run_at, now() + make_interval(secs => delay)) END AS due,
                 key IS NOT NULL AND EXISTS (
                     SELECT 1 FROM towpath.job AS other
                     WHERE other.tenant = asked.tenant AND other.operation = asked.operation
                       AND other.live_key = asked.key OFFSET 0) AS held
          FROM unnest(:ids::uuid[], :queues::text[], :operations::text[], :tenants::text[], :lanes::text[],
                      :priorities::smallint[], :costs::float8[], :run_ats::timestamptz[], :delays::float8[], :keys::text[],
                      :max_attempts::int[], :payloads::json[], :parents::uuid[], :roots::uuid[], :groups::text[],
                      :traces::text[])
               WITH ORDINALITY
               AS asked (id, queue, operation, tenant, lane, priority, cost, run_at, delay, key, max_attempts, payload,
                         parent_id, root_id, child_group, trace, nth)) AS asked
), lane AS MATERIALIZED (
    SELECT named.queue, named.priority, named.lane, coalesce(l.weight, 1) AS weight,
           CASE WHEN l.max_slots IS NOT NULL THEN 1 WHEN l.max_roots IS NOT NULL THEN 2 ELSE 0 END AS gate,
           greatest(f.floor, (SELECT pass FROM towpath.job
                              WHERE job.queue = named.queue AND job.priority = named.priority AND job.lane = named.lane
                                AND ready AND pass >= f.floor
                              ORDER BY pass DESC LIMIT 1)) AS tail
    FROM (SELECT DISTINCT queue, priority, lane FROM asked) AS named
    LEFT JOIN LATERAL (SELECT weight, max_slots, max_roots FROM towpath.lane AS l
                       WHERE l.queue = named.queue AND l.lane = named.lane OFFSET 0) AS l ON true
    CROSS JOIN LATERAL (SELECT coalesce((SELECT c.floor FROM towpath.clock AS c
                                         WHERE c.queue = named.queue AND c.priority = named.priority), 0) AS floor) AS f
), placed AS (
    SELECT asked.*, lane.gate, lane.tail + asked.spent / lane.weight AS pass
    FROM asked JOIN lane USING (queue, priority, lane)
), added AS (
    INSERT INTO towpath.job (id, queue, operation, tenant, lane, priority, cost, pass, parent_id, root_id, child_group,
                             key, live_key, ready, gate, parked, reason, run_at, due_at, max_attempts, payload, trace, made_in)
    SELECT id, queue, operation, tenant, lane, priority, cost, pass, parent_id, coalesce(root_id, id), child_group,
           key, key,
           due IS NULL AND NOT (gate = 1 OR (gate = 2 AND parent_id IS NULL)),
           gate,
           due IS NULL AND (gate = 1 OR (gate = 2 AND parent_id IS NULL)),
           CASE WHEN due IS NOT NULL THEN 'scheduled' WHEN gate = 1 OR (gate = 2 AND parent_id IS NULL) THEN 'capped' END,
           due, due, max_attempts, payload, trace, pg_current_xact_id()
    FROM placed ORDER BY nth
    ON CONFLICT DO NOTHING
    RETURNING id, queue, operation, tenant, lane, ready, parked
), whose AS (
    INSERT INTO towpath.owned (tenant, id) SELECT tenant, id FROM added
), fed AS (
    INSERT INTO towpath.feed (queue, name, seq, attempt, jobs)
    SELECT queue, 'job.created', 1, 0, array_agg(id) FROM added GROUP BY queue
), counted AS (
    INSERT INTO towpath.tally (queue, operation, created, queued)
    SELECT queue, operation, count(*), count(*) FROM added GROUP BY queue, operation
)
SELECT * FROM added

-- name: insert_events
WITH told AS (
    INSERT INTO towpath.event (job_id, seq, attempt, name, level, message, fields, ts)
    SELECT * FROM unnest(:ids::uuid[], :seqs::int[], :attempts::int[], :names::text[], :levels::text[], :messages::text[],
                         :fields::json[], :times::timestamptz[])
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

-- name: states
SELECT id, state FROM towpath.job WHERE id IN :ids

-- name: snapshot
SELECT pg_current_snapshot()::text AS cursor

-- name: stream
-- Everything visible in `upto` that was not visible in `since`. The order is fixed: by transaction, but never against a
-- job's own seq (a transaction that began earlier may have touched the job later).
SELECT job_id, seq, attempt, name, level, message, fields, ts
FROM (
    SELECT *, max(xid::text::bigint) OVER (PARTITION BY job_id ORDER BY seq) AS rank
    FROM (
        SELECT * FROM towpath.told
        WHERE xid >= pg_snapshot_xmax(:since::text::pg_snapshot)
          AND pg_visible_in_snapshot(xid, :upto::text::pg_snapshot)
        UNION ALL
        SELECT * FROM towpath.told
        WHERE xid = ANY (ARRAY (SELECT pg_snapshot_xip(:since::text::pg_snapshot)))
          AND pg_visible_in_snapshot(xid, :upto::text::pg_snapshot)
    ) AS new
) AS ranked
ORDER BY rank, job_id, seq
LIMIT :limit OFFSET :skip

-- name: insert_one
-- What insert_jobs does, for a single job: without arrays and windows it costs the server half as much.
WITH place AS MATERIALIZED (
    SELECT coalesce((SELECT c.floor FROM towpath.clock AS c
                     WHERE c.queue = :queue AND c.priority = :priority::smallint), 0) AS floor,
           CASE WHEN coalesce(:run_at::timestamptz, now() + make_interval(secs => :delay::float8)) > now()
                THEN coalesce(:run_at::timestamptz, now() + make_interval(secs => :delay::float8)) END AS due
), lane AS MATERIALIZED (
    SELECT weight, CASE WHEN max_slots IS NOT NULL THEN 1 WHEN max_roots IS NOT NULL THEN 2 ELSE 0 END AS gate
    FROM towpath.lane WHERE queue = :queue AND lane = :lane
), added AS (
    INSERT INTO towpath.job (id, queue, operation, tenant, lane, priority, cost, pass, parent_id, root_id, child_group,
                             key, live_key, ready, gate, parked, reason, run_at, due_at, max_attempts, payload, trace, made_in)
    SELECT :id::uuid, :queue, :operation::text, :tenant::text, :lane, :priority::smallint, :cost::float8,
           greatest(place.floor, (SELECT pass FROM towpath.job
                                  WHERE queue = :queue AND priority = :priority::smallint AND lane = :lane
                                    AND ready AND pass >= place.floor
                                  ORDER BY pass DESC LIMIT 1)) + :cost::float8 / coalesce(lane.weight, 1),
           :parent::uuid, coalesce(:root::uuid, :id::uuid), :group::text, :key::text, :key::text,
           due IS NULL AND NOT shut, coalesce(lane.gate, 0), due IS NULL AND shut,
           CASE WHEN due IS NOT NULL THEN 'scheduled' WHEN shut THEN 'capped' END,
           due, due, :max_attempts::int, :payload::json, :trace::text, pg_current_xact_id()
    FROM place LEFT JOIN lane ON true
         CROSS JOIN LATERAL (SELECT coalesce(lane.gate = 1 OR (lane.gate = 2 AND :parent::uuid IS NULL), false) AS shut) AS s
    ON CONFLICT DO NOTHING
    RETURNING id, queue, lane, ready, parked
), whose AS (
    INSERT INTO towpath.owned (tenant, id) SELECT :tenant::text, id FROM added
), fed AS (
    INSERT INTO towpath.feed (queue, name, seq, attempt, jobs) SELECT queue, 'job.created', 1, 0, ARRAY[id] FROM added
), counted AS (
    INSERT INTO towpath.tally (queue, operation, created, queued) SELECT queue, :operation::text, 1, 1 FROM added
)
SELECT * FROM added

-- name: insert_alike
SELECT towpath.insert_alike(:lock, :again, string_to_array(:ids, ',')::uuid[], :payloads, :queue, :operation, :tenant, :lane, :priority,
                            :cost, :parent, :root, :group, :max_attempts, :trace) AS shut
