-- What every claim and settle had to pay for, made cheaper. Decision 0018 says what each part costs and why it may go.
--
-- Conditions on rows are gone: the database read them anew from their text with every statement. The moves keep them, and
-- the tests look at every row they have touched.
--
-- No index names `state` or `leased` any more, so a plain success touches no index at all. What they were for is told by
-- columns that a plain job never sets: `rare_state` is the state if it is one that few jobs are in, `live_key` is the key
-- while it is held, `gate` is negative when an ended job no longer counts for its lane, and `run_at` and `deadline` are only
-- set while a job is scheduled or waits.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT conname FROM pg_constraint WHERE conrelid = 'towpath.job'::regclass AND contype = 'c' LOOP
        EXECUTE format('ALTER TABLE towpath.job DROP CONSTRAINT %I', name);
    END LOOP;
END
$$;
-- Room for both new versions of a row on its own page.
ALTER TABLE towpath.job SET (fillfactor = 50);
ALTER TABLE towpath.job ADD COLUMN rare_state text;
ALTER TABLE towpath.job ADD COLUMN live_key text;
UPDATE towpath.job
SET rare_state = CASE WHEN state IN ('waiting', 'partial', 'failed', 'cancelled') THEN state END,
    live_key = CASE WHEN state IN ('queued', 'running', 'waiting') THEN key END,
    gate = CASE WHEN leased OR state IN ('queued', 'running', 'waiting') THEN gate ELSE -gate END
WHERE state IN ('waiting', 'partial', 'failed', 'cancelled') OR key IS NOT NULL OR gate > 0;

DROP INDEX towpath.job_leased, towpath.job_due, towpath.job_deadline, towpath.job_gated, towpath.job_failed, towpath.job_key,
    towpath.job_rare, towpath.job_rare_of;
CREATE INDEX job_due ON towpath.job (run_at, id) WHERE run_at IS NOT NULL;
CREATE INDEX job_deadline ON towpath.job (deadline, id) WHERE deadline IS NOT NULL;
CREATE INDEX job_gated ON towpath.job (queue, lane, parked, priority, id) WHERE gate > 0;
CREATE INDEX job_failed ON towpath.job (operation, id) WHERE rare_state = 'failed';
CREATE UNIQUE INDEX job_key ON towpath.job (tenant, operation, live_key) WHERE live_key IS NOT NULL;
CREATE INDEX job_rare ON towpath.job (rare_state, id) WHERE rare_state IS NOT NULL;
CREATE INDEX job_rare_of ON towpath.job (tenant, rare_state, id) WHERE rare_state IS NOT NULL;

CREATE OR REPLACE VIEW towpath.v_causes AS
SELECT tenant, operation, error_kind AS kind, error_group AS cause, count(*) AS jobs, min(finished_at) AS first_at,
       max(finished_at) AS last_at
FROM towpath.job WHERE rare_state = 'failed' AND error_kind <> 'children'
GROUP BY tenant, operation, error_kind, error_group;

-- Which jobs are leased: one row per claim, not per job. A job that is leased is listed in some row; a row may also list
-- jobs that have ended since, so readers look at `job.leased` as well. No lease of a row runs out before `until`.
CREATE TABLE towpath.lease (
    id        uuid PRIMARY KEY,
    worker_id text,
    queue     text NOT NULL,
    jobs      uuid[] NOT NULL,
    until     timestamptz NOT NULL
);
INSERT INTO towpath.lease (id, worker_id, queue, jobs, until)
SELECT towpath.uuid7(), worker_id, queue, array_agg(id), min(lease_until) FROM towpath.job WHERE leased
GROUP BY worker_id, queue;
CREATE VIEW towpath.held AS SELECT id AS lease_id, queue, until, unnest(jobs) AS job_id FROM towpath.lease;

-- As before, and it says itself what the conditions used to.
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
                                 gate, parked, reason, run_at, due_at, max_attempts, payload, trace)
        VALUES (new_id, enqueue.queue, enqueue.operation, enqueue.tenant, in_lane, enqueue.priority, enqueue.cost,
                greatest(floor, tail) + enqueue.cost / weight, new_id, enqueue.key, enqueue.key, is_ready,
                gate, due IS NULL AND gate > 0, CASE WHEN due IS NOT NULL THEN 'scheduled' WHEN gate > 0 THEN 'capped' END,
                due, due, enqueue.max_attempts, enqueue.payload, enqueue.trace)
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
    INSERT INTO towpath.event (job_id, seq, attempt, name) VALUES (new_id, 1, 0, 'job.created');
    INSERT INTO towpath.tally (queue, operation, created, queued) VALUES (enqueue.queue, enqueue.operation, 1, 1);
    IF is_ready THEN
        PERFORM pg_notify('towpath', enqueue.queue);
    END IF;
    RETURN new_id;
END
$$;

-- Jobs that differ in nothing but their ids and payloads, none of them scheduled or with a key, in one round trip: most bulk is
-- like that, and it needs no sorting into lanes. Parallel inserts into one lane would all stamp from the same tail, so they
-- take turns at the lock, and every statement after it sees what the one before has committed. Answers whether the lane's gate
-- holds them back, or NULL if this is `again` the same insert, after an unknown commit, and they are here already.
CREATE FUNCTION towpath.insert_alike(
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
    PERFORM pg_advisory_xact_lock(insert_alike.lock);
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
                             ready, gate, parked, reason, max_attempts, payload, trace)
    SELECT new.id, insert_alike.queue, insert_alike.operation, insert_alike.tenant, insert_alike.lane, insert_alike.priority,
           insert_alike.cost, tail + new.nth * step, insert_alike.parent, coalesce(insert_alike.root, new.id),
           insert_alike.child_group, NOT shut, gate, shut, CASE WHEN shut THEN 'capped' END, insert_alike.max_attempts,
           new.payload, insert_alike.trace
    FROM unnest(insert_alike.ids, insert_alike.payloads) WITH ORDINALITY AS new (id, payload, nth);
    INSERT INTO towpath.owned (tenant, id) SELECT insert_alike.tenant, id FROM unnest(insert_alike.ids) AS id;
    INSERT INTO towpath.event (job_id, seq, attempt, name)
    SELECT id, 1, 0, 'job.created' FROM unnest(insert_alike.ids) AS id;
    INSERT INTO towpath.tally (queue, operation, created, queued)
    VALUES (insert_alike.queue, insert_alike.operation, asked, asked);
    RETURN shut;
END
$$;
