-- New jobs: each is placed in the fair order of its lane, or behind the lane's gate, or scheduled. Where that is, only the functions
-- `place`, `shut` and `due` know (functions.postgres.sql).

-- fragment: insert_placed
INSERT INTO towpath.job (id, {new_columns}, root_id, payload, pass, gate, ready, parked, reason, key, live_key, run_at, due_at, created_xid)
SELECT id, {new_columns}, coalesce(root_id, id), payload, pass, gate, due IS NULL AND NOT shut, due IS NULL AND shut,
       CASE WHEN due IS NOT NULL THEN 'scheduled' WHEN shut THEN 'capped' END, key, key, due, due, pg_current_xact_id()
FROM placed

-- fragment: new_jobs_recorded
-- What is recorded beside new jobs: whose they are, their events and the counts.
owners AS (
    INSERT INTO towpath.owned (tenant, id) SELECT tenant, id FROM added
), batches AS (
    INSERT INTO towpath.event_batch (seq, jobs) SELECT 1, array_agg(id) FROM added HAVING count(*) > 0
), counted AS (
    INSERT INTO towpath.count_delta (queue, operation, created, queued)
    SELECT queue, operation, count(*), count(*) FROM added GROUP BY queue, operation
)

-- fragment: placed_sorts
SELECT sort.nth::integer AS nth, {new_columns}, root_id, towpath.due(run_at, delay) AS due, place.tail, place.weight, place.gate,
       towpath.shut(place.gate, parent_id) AS shut
FROM ROWS FROM (json_to_recordset(insert_jobs.sorts)
                AS ({new_columns_typed}, root_id uuid, run_at timestamptz, delay float8)) WITH ORDINALITY
         AS sort ({new_columns}, root_id, run_at, delay, nth)
     CROSS JOIN LATERAL towpath.place(sort.queue, sort.priority, sort.lane) AS place

-- name: insert_one
-- What the function `insert_jobs` does, for a single job: without lists it costs the server half as much. No row: it is there already, or
-- its key is held.
WITH placed AS (
    SELECT :id::uuid AS id, {new_values}, :root_id::uuid AS root_id, :payload::json AS payload, :key::text AS key, place.gate,
           place.tail + :cost::float8 / place.weight AS pass, towpath.shut(place.gate, :parent_id::uuid) AS shut,
           towpath.due(:run_at::timestamptz, :delay::float8) AS due
    FROM towpath.place(:queue::text, :priority::smallint, :lane::text) AS place
), added AS (
    {insert_placed}
    ON CONFLICT DO NOTHING
    RETURNING id, queue, operation, tenant, lane, ready, parked
), {new_jobs_recorded}
SELECT queue, lane, ready, parked, ARRAY[id] AS added FROM added

-- name: insert_jobs
SELECT queue, lane, ready, parked, added
FROM towpath.insert_jobs(:locks::bigint[], string_to_array(:ids::text, ',')::uuid[], :payloads::json[], :sorts::json,
                         :sort_of::integer[], :spent::float8[], :keys::text[])

-- name: lock_lanes
-- The lanes' locks alone, which `insert_jobs` takes by itself if it is given them. Inside of transactions that insert into several
-- lanes this comes first, so that tests can come in between the locks and the insert.
SELECT pg_advisory_xact_lock(lock) FROM unnest(:locks::bigint[]) AS lock

-- name: place
SELECT floor, tail, weight, gate FROM towpath.place(:queue::text, :priority::smallint, :lane::text)
