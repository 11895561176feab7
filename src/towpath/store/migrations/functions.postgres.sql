-- revision: 2
-- The engine's functions. They are not part of a migration: this file is applied again when it is newer than what the database has.
-- Raise the revision above with every change since the last release.
--
-- Workers of the release before go on calling them, and so do callers with statements of their own. So a parameter is added at the
-- end and with a default, and the function without it is dropped here by its old list of parameters: there is one of each name.

-- An id that sorts by the time it was made, as `core/ids.py` makes them.
CREATE OR REPLACE FUNCTION towpath.uuid7() RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT encode(overlay(overlay(uuid_send(gen_random_uuid())
                                  PLACING substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
                                                    FROM 3) FROM 1 FOR 6)
                          PLACING set_byte('\x00'::bytea, 0,
                                           (get_byte(uuid_send(gen_random_uuid()), 0) & 15) | 112) FROM 7 FOR 1),
                  'hex')::uuid
$$;

-- Payloads are nested 200 levels deep at most, as from the library: more cannot be relied on to be read back.
--
-- How deep it is, or 0 if it cannot be deeper than that. Brackets inside of texts do not count, and a text of less than 402
-- characters has no room for 201 of them that are closed again.
CREATE OR REPLACE FUNCTION towpath.nesting(value json) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN value IS NULL OR length(value::text) < 402 THEN 0 ELSE (
        SELECT coalesce(max(deep), 0) FROM (
            SELECT sum(CASE WHEN mark IN ('[', '{') THEN 1 ELSE -1 END) OVER (ORDER BY place) AS deep
            FROM regexp_split_to_table(
                regexp_replace(regexp_replace(value::text, '"(\\.|[^"\\])*"', '', 'g'), '[^][{}]', '', 'g'), ''
            ) WITH ORDINALITY AS marks (mark, place)
        ) AS levels
    ) END
$$;

-- Where the next job of a lane goes: behind the lane's last ready job, or at the floor, where claims have come to, if it has none above
-- that; by which weight its cost is divided; and what the lane's gate counts (1: slots, 2: open roots, 0: it has none). This and the
-- three below are the only places that say so, and the planner puts them into the statements that ask.
CREATE OR REPLACE FUNCTION towpath.place(queue text, priority smallint, lane text)
RETURNS TABLE (floor float8, tail float8, weight float8, gate smallint) LANGUAGE sql STABLE AS $$
    SELECT f.floor,
           greatest(f.floor, (SELECT j.pass FROM towpath.job AS j
                              WHERE j.queue = $1 AND j.priority = $2 AND j.lane = $3 AND j.ready AND j.pass >= f.floor
                              ORDER BY j.pass DESC LIMIT 1)),
           coalesce(lane.weight, 1), ({lane_gate})::smallint
    FROM (SELECT coalesce((SELECT c.floor FROM towpath.clock AS c WHERE c.queue = $1 AND c.priority = $2), 0) AS floor) AS f
         LEFT JOIN LATERAL (SELECT l.weight, l.max_slots, l.max_roots FROM towpath.lane AS l
                            WHERE l.queue = $1 AND l.lane = $3 OFFSET 0) AS lane ON true
$$;

-- The pass of a lane's next job, when it and the new ones before it have spent so much; `stamp` of core/fairness.py says the same.
CREATE OR REPLACE FUNCTION towpath.stamp(tail float8, spent float8, weight float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
    SELECT $1 + $2 / $3
$$;

-- Whether such a gate holds a new job back.
CREATE OR REPLACE FUNCTION towpath.shut(gate smallint, parent_id uuid) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT $1 = 1 OR ($1 = 2 AND $2 IS NULL)
$$;

-- When it falls due; NULL if it need not wait.
CREATE OR REPLACE FUNCTION towpath.due(run_at timestamptz, delay float8) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN coalesce($1, now() + make_interval(secs => $2)) > now()
                THEN coalesce($1, now() + make_interval(secs => $2)) END
$$;

-- New jobs, in one round trip. What many of them have in common, which is everything but id, payload and key, is sent once, as a list
-- of `sorts`; `sort_of` says of each job which of these it is, counted from 1.
--
-- Parallel inserts into one lane would all stamp from the same tail. So they take turns at its lock, and every statement after that
-- sees what the one before has committed.
--
-- If `keys` is NULL, no job has a key and none is scheduled. Then either all of them are new or none is, if this is the same insert
-- sent again because the answer to its commit was lost. And of the jobs of one lane either all become ready or none does, so their
-- client has added up what they cost: `spent` is, for each job, its own cost and that of the jobs before it in the same lane.
--
-- If there are `keys` (with NULL for jobs that have none), a job whose key a live job holds is left out, and one that is scheduled, or
-- held back by the lane's gate, gets its place later. None of them pushes the jobs behind it back, so costs are added up here, over
-- those jobs that become ready.
--
-- Answers what became of them, by lane; `added` are their ids, or NULL if it is all of them. No row: none of them is new.
CREATE OR REPLACE FUNCTION towpath.insert_jobs(
    locks bigint[], ids uuid[], payloads json[], sorts json, sort_of integer[], spent float8[], keys text[]
) RETURNS TABLE (queue text, lane text, ready boolean, parked boolean, added uuid[])
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    lock bigint;
BEGIN
    FOREACH lock IN ARRAY locks LOOP
        IF pg_advisory_xact_lock(lock) IS NULL THEN -- never; PERFORM would run a query for it, which costs a tenth
            RETURN;
        END IF;
    END LOOP;
    IF insert_jobs.keys IS NULL THEN
        IF EXISTS (SELECT 1 FROM towpath.job AS j WHERE j.id = insert_jobs.ids[1]) THEN
            RETURN;
        END IF;
        RETURN QUERY
        WITH sort AS MATERIALIZED (
            {placed_sorts}
        ), placed AS (
            SELECT new.id, new.payload, NULL::text AS key, sort.*, towpath.stamp(sort.tail, new.spent, sort.weight) AS pass
            FROM unnest(insert_jobs.ids, insert_jobs.payloads, insert_jobs.sort_of, insert_jobs.spent)
                 AS new (id, payload, nth, spent) JOIN sort USING (nth)
        ), added AS (
            {insert_placed}
            RETURNING id, queue, operation, tenant
        ), {new_jobs_recorded}
        SELECT DISTINCT sort.queue, sort.lane, NOT shut, shut, NULL::uuid[] FROM sort;
    ELSE
        RETURN QUERY
        WITH sort AS MATERIALIZED (
            {placed_sorts}
        ), asked AS MATERIALIZED (
            SELECT new.id, new.payload, new.key, new.number, sort.*, new.key IS NOT NULL AND EXISTS (
                       SELECT 1 FROM towpath.job AS other
                       WHERE other.tenant = sort.tenant AND other.operation = sort.operation AND other.live_key = new.key OFFSET 0) AS held
            FROM unnest(insert_jobs.ids, insert_jobs.payloads, insert_jobs.sort_of, insert_jobs.keys) WITH ORDINALITY
                 AS new (id, payload, nth, key, number) JOIN sort USING (nth)
        ), placed AS (
            SELECT *, towpath.stamp(tail, coalesce(sum(cost) FILTER (WHERE due IS NULL AND NOT held AND NOT shut)
                                                   OVER (PARTITION BY queue, priority, lane ORDER BY number), 0), weight) AS pass
            FROM asked ORDER BY number
        ), added AS (
            {insert_placed}
            ON CONFLICT DO NOTHING
            RETURNING id, queue, operation, tenant, lane, ready, parked
        ), {new_jobs_recorded}
        SELECT a.queue, a.lane, a.ready, a.parked, array_agg(a.id) FROM added AS a GROUP BY a.queue, a.lane, a.ready, a.parked;
    END IF;
END
$$;

-- Enqueue from any driver, trigger or language, inside the caller's own transaction.
CREATE OR REPLACE FUNCTION towpath.enqueue(
    operation text, payload json DEFAULT 'null', queue text DEFAULT 'default', tenant text DEFAULT 'default',
    lane text DEFAULT NULL, priority integer DEFAULT 1, cost float8 DEFAULT 1, run_at timestamptz DEFAULT NULL,
    key text DEFAULT NULL, max_attempts integer DEFAULT 3, trace text DEFAULT NULL,
    subject_kind text DEFAULT NULL, subject_id text DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    new_id uuid := towpath.uuid7();
    sort json := json_build_array(json_build_object(
        'operation', enqueue.operation, 'queue', enqueue.queue, 'tenant', enqueue.tenant,
        'lane', coalesce(enqueue.lane, enqueue.tenant), 'priority', enqueue.priority, 'cost', enqueue.cost,
        'run_at', enqueue.run_at, 'max_attempts', enqueue.max_attempts, 'trace', enqueue.trace,
        'subject_kind', enqueue.subject_kind, 'subject_id', enqueue.subject_id));
    is_ready boolean;
    holder uuid;
BEGIN
    IF enqueue.priority NOT BETWEEN 0 AND 3 OR NOT (enqueue.cost > 0 AND enqueue.cost < 'Infinity') OR
       enqueue.max_attempts < 1 THEN
        RAISE EXCEPTION 'priority must be 0 to 3, cost above 0 and max_attempts at least 1, got %, % and %',
            enqueue.priority, enqueue.cost, enqueue.max_attempts USING ERRCODE = 'check_violation';
    END IF;
    IF (enqueue.subject_kind IS NULL) <> (enqueue.subject_id IS NULL) THEN
        RAISE EXCEPTION 'a subject has a kind and an id, got % and %', enqueue.subject_kind, enqueue.subject_id
            USING ERRCODE = 'check_violation', HINT = 'Pass both subject_kind and subject_id, or neither.';
    END IF;
    IF towpath.nesting(enqueue.payload) > 200 THEN
        RAISE EXCEPTION 'the payload is nested more than 200 levels deep; pass a flat structure'
            USING ERRCODE = 'check_violation';
    END IF;
    LOOP
        SELECT made.ready INTO is_ready
        FROM towpath.insert_jobs('{}', ARRAY[new_id], ARRAY[enqueue.payload], sort, ARRAY[1], NULL, ARRAY[enqueue.key]) AS made;
        EXIT WHEN FOUND;
        SELECT j.id INTO holder FROM towpath.job AS j
        WHERE j.tenant = enqueue.tenant AND j.operation = enqueue.operation AND j.live_key = enqueue.key;
        IF FOUND THEN
            RETURN holder;
        END IF;
        -- The holder ended between the two statements: the key is free again.
    END LOOP;
    IF is_ready THEN
        PERFORM pg_notify('towpath', enqueue.queue);
    END IF;
    RETURN new_id;
END
$$;

-- The snapshot as it would be if no transaction from `bound` on had begun: a place between two snapshots.
CREATE OR REPLACE FUNCTION towpath.snapshot_below(whole pg_snapshot, bound xid8) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce((array_agg(running::text ORDER BY running))[1], bound::text) || ':' || bound::text || ':'
           || coalesce(string_agg(running::text, ',' ORDER BY running), '')
    FROM pg_snapshot_xip(whole) AS running WHERE running < bound
$$;

-- Events carry the number of the transaction that wrote them. Those of a dump from another cluster mean nothing here: they become
-- the smallest one. Answers how many rows bore a number from the future.
CREATE OR REPLACE FUNCTION towpath.after_restore() RETURNS bigint LANGUAGE sql AS $$
    WITH events AS (
        UPDATE towpath.event SET xid = '3' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()) RETURNING 1
    ), batches AS (
        UPDATE towpath.event_batch SET xid = '3' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()) RETURNING 1
    ), jobs AS (
        UPDATE towpath.job SET created_xid = '3', started_xid = CASE WHEN started_xid IS NOT NULL THEN '3'::xid8 END
        WHERE greatest(created_xid, started_xid) >= pg_snapshot_xmax(pg_current_snapshot()) RETURNING 1
    )
    SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM batches) + (SELECT count(*) FROM jobs)
$$;
