-- Payloads are nested 200 levels deep at most, as from the library: more cannot be relied on to be read back.
--
-- How deep it is, or 0 if it cannot be deeper than that. Brackets inside of texts do not count, and a text of less than 402
-- characters has no room for 201 of them that are closed again.
CREATE FUNCTION towpath.nesting(value json) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN value IS NULL OR length(value::text) < 402 THEN 0 ELSE (
        SELECT coalesce(max(deep), 0) FROM (
            SELECT sum(CASE WHEN mark IN ('[', '{') THEN 1 ELSE -1 END) OVER (ORDER BY place) AS deep
            FROM regexp_split_to_table(
                regexp_replace(regexp_replace(value::text, '"(\\.|[^"\\])*"', '', 'g'), '[^][{}]', '', 'g'), ''
            ) WITH ORDINALITY AS marks (mark, place)
        ) AS levels
    ) END
$$;

-- As before, and refuses those.
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
    IF towpath.nesting(enqueue.payload) > 200 THEN
        RAISE EXCEPTION 'the payload is nested more than 200 levels deep; pass a flat structure'
            USING ERRCODE = 'check_violation';
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
