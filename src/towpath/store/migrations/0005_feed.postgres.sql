-- What one commit did to many jobs is one row of the feed instead of an event each. Decision 0020 says what it gains.
--
-- Only what leaves nothing else to say is told like that: that a job was created, that it was started for the first time, if
-- that is its second event, and that it succeeded, which is its last. The job's row says the same: whatever of these has no
-- event of its own was told by the feed.
CREATE TABLE towpath.feed (
    xid     xid8 NOT NULL DEFAULT pg_current_xact_id(),
    ts      timestamptz NOT NULL DEFAULT now(),
    queue   text NOT NULL,
    name    text NOT NULL,
    seq     integer NOT NULL,
    attempt integer NOT NULL,
    jobs    uuid[] NOT NULL
) WITH (toast_tuple_target = 8160); -- some 500 jobs stay in the row itself
CREATE INDEX feed_xid ON towpath.feed (xid);

-- In which transaction the feed told of it; streams need it to keep a job's events in order.
ALTER TABLE towpath.job ADD COLUMN made_in xid8, ADD COLUMN begun_in xid8;
-- Of an event that the feed has told already, and that the row of its job no longer knows.
ALTER TABLE towpath.event ADD COLUMN kept boolean NOT NULL DEFAULT false;

-- What only the row of a job knows.
CREATE VIEW towpath.implied AS
SELECT id AS job_id, 1 AS seq, 0 AS attempt, 'job.created' AS name, 'info' AS level, CAST(NULL AS text) AS message,
       CAST(NULL AS json) AS fields, created_at AS ts FROM towpath.job AS job
WHERE NOT EXISTS (SELECT 1 FROM towpath.event AS own WHERE own.job_id = job.id AND own.seq = 1)
UNION ALL
SELECT id, 2, 1, 'job.started', 'info', NULL, NULL, started_at FROM towpath.job AS job
WHERE seq > 1 AND started_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM towpath.event AS own WHERE own.job_id = job.id AND own.seq = 2)
UNION ALL
SELECT id, seq, attempt, 'job.succeeded', 'info', NULL, NULL, finished_at FROM towpath.job AS job
WHERE state = 'succeeded' AND NOT EXISTS (SELECT 1 FROM towpath.event AS own WHERE own.job_id = job.id AND own.seq = job.seq);

-- Everything that happened to a job.
CREATE VIEW towpath.happened AS
SELECT job_id, seq, attempt, name, level, message, fields, ts FROM towpath.event
UNION ALL
SELECT job_id, seq, attempt, name, level, message, fields, ts FROM towpath.implied;

-- Everything that was told, for whoever asks for a span of transactions. Jobs are looked up one by one (that is what the OFFSET
-- is for): those that are gone have left the stream.
CREATE VIEW towpath.told AS
SELECT job_id, seq, attempt, name, level, message, fields, ts, xid FROM towpath.event WHERE NOT kept
UNION ALL
SELECT listed.id, feed.seq, feed.attempt, feed.name, 'info', NULL, NULL, feed.ts, feed.xid
FROM towpath.feed AS feed CROSS JOIN LATERAL unnest(feed.jobs) AS listed (id)
     CROSS JOIN LATERAL (SELECT 1 FROM towpath.job WHERE job.id = listed.id OFFSET 0) AS there;

-- Events carry the number of the transaction that told them. Those of a dump from another cluster mean nothing here: they become
-- the smallest one. Answers how many rows bore a number from the future.
CREATE FUNCTION towpath.after_restore() RETURNS bigint LANGUAGE sql AS $$
    WITH told AS (
        UPDATE towpath.event SET xid = '3' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()) RETURNING 1
    ), fed AS (
        UPDATE towpath.feed SET xid = '3' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()) RETURNING 1
    ), gone AS (
        UPDATE towpath.tombstone SET xid = '3' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()) RETURNING 1
    ), known AS (
        UPDATE towpath.job SET made_in = '3', begun_in = CASE WHEN begun_in IS NOT NULL THEN '3'::xid8 END
        WHERE greatest(made_in, begun_in) >= pg_snapshot_xmax(pg_current_snapshot()) RETURNING 1
    )
    SELECT (SELECT count(*) FROM told) + (SELECT count(*) FROM fed) + (SELECT count(*) FROM gone) + (SELECT count(*) FROM known)
$$;

-- As before, but told by the feed.
CREATE OR REPLACE FUNCTION towpath.enqueue(
    operation text, payload json DEFAULT 'null', queue text DEFAULT 'default', tenant text DEFAULT 'default',
    lane text DEFAULT NULL, priority integer DEFAULT 1, cost float8 DEFAULT 1, run_at timestamptz DEFAULT NULL,
    key text DEFAULT NULL, max_attempts integer DEFAULT 3, trace text DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    new_id uuid := towpath.uuid7();
    in_lane text := coalesce(enqueue.lane, enqueue.tenant);
    due timestamptz := CASE WHEN enqueue.run_at > now() THEN enqueue.run_at END;
    floor float8;
    tail float8;
    weight float8 := 1;
    gate smallint := 0;
    is_ready boolean;
    found_id uuid;
BEGIN
    IF enqueue.priority NOT BETWEEN 0 AND 3 OR NOT (enqueue.cost > 0 AND enqueue.cost < 'Infinity') OR
       enqueue.max_attempts < 1 THEN
        RAISE EXCEPTION 'priority must be 0 to 3, cost above 0 and max_attempts at least 1, got %, % and %',
            enqueue.priority, enqueue.cost, enqueue.max_attempts USING ERRCODE = 'check_violation';
    END IF;
    SELECT l.weight, CASE WHEN l.max_slots IS NOT NULL THEN 1 WHEN l.max_roots IS NOT NULL THEN 2 ELSE 0 END
    INTO weight, gate FROM towpath.lane AS l WHERE l.queue = enqueue.queue AND l.lane = in_lane;
    weight := coalesce(weight, 1);
    gate := coalesce(gate, 0);
    SELECT coalesce(max(c.floor), 0) INTO floor FROM towpath.clock AS c
    WHERE c.queue = enqueue.queue AND c.priority = enqueue.priority;
    SELECT j.pass INTO tail FROM towpath.job AS j
    WHERE j.queue = enqueue.queue AND j.priority = enqueue.priority AND j.lane = in_lane AND j.ready AND j.pass >= floor
    ORDER BY j.pass DESC LIMIT 1;
    is_ready := due IS NULL AND gate = 0;
    LOOP
        INSERT INTO towpath.job (id, queue, operation, tenant, lane, priority, cost, pass, root_id, key, live_key, ready,
                                 gate, parked, reason, run_at, due_at, max_attempts, payload, trace, made_in)
        VALUES (new_id, enqueue.queue, enqueue.operation, enqueue.tenant, in_lane, enqueue.priority, enqueue.cost,
                greatest(floor, tail) + enqueue.cost / weight, new_id, enqueue.key, enqueue.key, is_ready,
                gate, due IS NULL AND gate > 0, CASE WHEN due IS NOT NULL THEN 'scheduled' WHEN gate > 0 THEN 'capped' END,
                due, due, enqueue.max_attempts, enqueue.payload, enqueue.trace, pg_current_xact_id())
        ON CONFLICT DO NOTHING RETURNING id INTO found_id;
        EXIT WHEN found_id IS NOT NULL;
        SELECT j.id INTO found_id FROM towpath.job AS j
        WHERE j.tenant = enqueue.tenant AND j.operation = enqueue.operation AND j.live_key = enqueue.key;
        IF found_id IS NOT NULL THEN
            RETURN found_id;
        END IF;
        -- The holder ended between the two statements: the key is free again.
    END LOOP;
    INSERT INTO towpath.owned (tenant, id) VALUES (enqueue.tenant, new_id);
    INSERT INTO towpath.feed (queue, name, seq, attempt, jobs) VALUES (enqueue.queue, 'job.created', 1, 0, ARRAY[new_id]);
    INSERT INTO towpath.tally (queue, operation, created, queued) VALUES (enqueue.queue, enqueue.operation, 1, 1);
    IF is_ready THEN
        PERFORM pg_notify('towpath', enqueue.queue);
    END IF;
    RETURN new_id;
END
$$;

-- The same.
CREATE OR REPLACE FUNCTION towpath.insert_alike(
    lock bigint, again boolean, ids uuid[], payloads json[], queue text, operation text, tenant text, lane text,
    priority smallint, cost float8, parent uuid, root uuid, child_group text, max_attempts integer, trace text
) RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    asked integer := cardinality(insert_alike.ids);
    step float8;
    gate smallint;
    tail float8;
    shut boolean;
BEGIN
    IF pg_advisory_xact_lock(insert_alike.lock) IS NULL THEN -- never; PERFORM would run a query for it, which costs a tenth
        RETURN NULL;
    END IF;
    IF again THEN
        IF EXISTS (SELECT 1 FROM towpath.job AS j WHERE j.id = insert_alike.ids[1]) THEN
            RETURN NULL;
        END IF;
    END IF;
    SELECT insert_alike.cost / coalesce(l.weight, 1),
           CASE WHEN l.max_slots IS NOT NULL THEN 1 WHEN l.max_roots IS NOT NULL THEN 2 ELSE 0 END,
           greatest(f.floor, (SELECT j.pass FROM towpath.job AS j
                              WHERE j.queue = insert_alike.queue AND j.priority = insert_alike.priority
                                AND j.lane = insert_alike.lane AND j.ready AND j.pass >= f.floor
                              ORDER BY j.pass DESC LIMIT 1))
    INTO step, gate, tail
    FROM (SELECT coalesce((SELECT c.floor FROM towpath.clock AS c WHERE c.queue = insert_alike.queue
                           AND c.priority = insert_alike.priority), 0) AS floor) AS f
    LEFT JOIN towpath.lane AS l ON l.queue = insert_alike.queue AND l.lane = insert_alike.lane;
    shut := gate = 1 OR (gate = 2 AND insert_alike.parent IS NULL);
    INSERT INTO towpath.job (id, queue, operation, tenant, lane, priority, cost, pass, parent_id, root_id, child_group,
                             ready, gate, parked, reason, max_attempts, payload, trace, made_in)
    SELECT new.id, insert_alike.queue, insert_alike.operation, insert_alike.tenant, insert_alike.lane, insert_alike.priority,
           insert_alike.cost, tail + new.nth * step, insert_alike.parent, coalesce(insert_alike.root, new.id),
           insert_alike.child_group, NOT shut, gate, shut, CASE WHEN shut THEN 'capped' END, insert_alike.max_attempts,
           new.payload, insert_alike.trace, pg_current_xact_id()
    FROM unnest(insert_alike.ids, insert_alike.payloads) WITH ORDINALITY AS new (id, payload, nth);
    INSERT INTO towpath.owned (tenant, id) SELECT insert_alike.tenant, id FROM unnest(insert_alike.ids) AS id;
    INSERT INTO towpath.feed (queue, name, seq, attempt, jobs)
    VALUES (insert_alike.queue, 'job.created', 1, 0, insert_alike.ids);
    INSERT INTO towpath.tally (queue, operation, created, queued)
    VALUES (insert_alike.queue, insert_alike.operation, asked, asked);
    RETURN shut;
END
$$;
