CREATE TABLE towpath.job (
    id              uuid PRIMARY KEY,
    queue           text NOT NULL,
    operation       text NOT NULL,
    tenant          text NOT NULL,
    lane            text NOT NULL,
    priority        smallint NOT NULL DEFAULT 1 CHECK (priority BETWEEN 0 AND 3),
    cost            float8 NOT NULL DEFAULT 1 CHECK (cost > 0),
    pass            float8 NOT NULL DEFAULT 0,
    parent_id       uuid,
    root_id         uuid NOT NULL,
    child_group     text,
    key             text,
    state           text NOT NULL DEFAULT 'queued'
                    CHECK (state IN ('queued', 'running', 'waiting', 'succeeded', 'partial', 'failed', 'cancelled')),
    ready           boolean NOT NULL DEFAULT false,
    gate            smallint NOT NULL DEFAULT 0,
    parked          boolean NOT NULL DEFAULT false,
    reason          text,
    run_at          timestamptz,
    deadline        timestamptz,
    attempt         integer NOT NULL DEFAULT 0,
    failures        integer NOT NULL DEFAULT 0,
    retry_laters    integer NOT NULL DEFAULT 0,
    max_attempts    integer NOT NULL DEFAULT 3 CHECK (max_attempts > 0),
    wakes           integer NOT NULL DEFAULT 0,
    seq             integer NOT NULL DEFAULT 1,
    steps           integer NOT NULL DEFAULT 0,
    leased          boolean NOT NULL DEFAULT false,
    lease_until     timestamptz,
    worker_id       text,
    payload         json NOT NULL,
    result          json,
    error           json,
    error_kind      text,
    error_group     text,
    progress_current float8,
    progress_total  float8,
    children_total  integer NOT NULL DEFAULT 0,
    children_ok     integer NOT NULL DEFAULT 0,
    children_partial integer NOT NULL DEFAULT 0,
    children_bad    integer NOT NULL DEFAULT 0,
    await_group     text,
    await_open      integer NOT NULL DEFAULT 0,
    closing         boolean NOT NULL DEFAULT false,
    trace           text,
    created_at      timestamptz NOT NULL DEFAULT now(),
    started_at      timestamptz,
    finished_at     timestamptz,
    CHECK (NOT ready OR state = 'queued'),
    CHECK (NOT parked OR (state = 'queued' AND NOT ready)),
    CHECK (state <> 'running' OR leased),
    CHECK (NOT leased OR lease_until IS NOT NULL),
    CHECK (state <> 'waiting' OR deadline IS NOT NULL)
) WITH (fillfactor = 70);

-- The primary key is the only full index. Every other is partial on what it is for, so that a job pays for it only
-- while it is in that condition; columns that heartbeats and progress write are in none of them.
CREATE INDEX job_ready ON towpath.job (queue, priority, pass, id) WHERE ready;
CREATE INDEX job_lane ON towpath.job (queue, priority, lane, pass) WHERE ready;
CREATE INDEX job_leased ON towpath.job (queue, id) WHERE leased;
CREATE INDEX job_due ON towpath.job (run_at, id) WHERE state = 'queued' AND run_at IS NOT NULL;
CREATE INDEX job_deadline ON towpath.job (deadline, id) WHERE state = 'waiting';
CREATE INDEX job_gated ON towpath.job (queue, lane, parked, priority, id)
    WHERE gate > 0 AND (leased OR state IN ('queued', 'running', 'waiting'));
CREATE INDEX job_family ON towpath.job (parent_id, child_group, id) WHERE parent_id IS NOT NULL;
CREATE INDEX job_failed ON towpath.job (operation, id) WHERE state = 'failed';
CREATE UNIQUE INDEX job_key ON towpath.job (tenant, operation, key)
    WHERE key IS NOT NULL AND state IN ('queued', 'running', 'waiting');

CREATE TABLE towpath.event (
    job_id  uuid NOT NULL,
    seq     integer NOT NULL,
    attempt integer NOT NULL,
    name    text NOT NULL,
    level   text NOT NULL DEFAULT 'info',
    message text,
    fields  json,
    ts      timestamptz NOT NULL DEFAULT now(),
    xid     xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (job_id, seq)
);
CREATE INDEX event_xid ON towpath.event (xid);

CREATE TABLE towpath.step (
    job_id      uuid NOT NULL,
    name        text NOT NULL,
    kind        text NOT NULL,
    ord         integer NOT NULL,
    done        boolean NOT NULL,
    output      json,
    attempt     integer NOT NULL,
    retries     integer NOT NULL DEFAULT 0,
    duration_ms float8,
    model       text,
    tokens_in   bigint,
    tokens_out  bigint,
    cost_cents  float8,
    until       timestamptz,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, name)
);

CREATE TABLE towpath.signal (
    id          uuid PRIMARY KEY,
    job_id      uuid NOT NULL,
    name        text NOT NULL,
    payload     json NOT NULL,
    consumed_by text,
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX signal_pending ON towpath.signal (job_id, name, id) WHERE consumed_by IS NULL;
CREATE INDEX signal_job ON towpath.signal (job_id);

CREATE TABLE towpath.lane (
    queue      text NOT NULL,
    lane       text NOT NULL,
    weight     float8 NOT NULL DEFAULT 1 CHECK (weight > 0),
    max_slots  integer CHECK (max_slots >= 0),
    max_roots  integer CHECK (max_roots >= 0),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (queue, lane),
    CHECK (max_slots IS NULL OR max_roots IS NULL)
);

CREATE TABLE towpath.queue (
    name      text PRIMARY KEY,
    paused    boolean NOT NULL DEFAULT false,
    paused_at timestamptz,
    max_slots integer CHECK (max_slots >= 0)
);

CREATE TABLE towpath.clock (
    queue    text NOT NULL,
    priority smallint NOT NULL,
    floor    float8 NOT NULL,
    PRIMARY KEY (queue, priority)
) WITH (fillfactor = 50);

CREATE TABLE towpath.budget (
    name          text PRIMARY KEY,
    blocked_until timestamptz NOT NULL,
    reason        text
);

CREATE TABLE towpath.worker (
    id          text PRIMARY KEY,
    name        text NOT NULL,
    queues      json NOT NULL,
    operations  json NOT NULL,
    concurrency integer NOT NULL,
    running     integer NOT NULL DEFAULT 0,
    version     text NOT NULL,
    started_at  timestamptz NOT NULL,
    seen_at     timestamptz NOT NULL,
    stopped_at  timestamptz
) WITH (fillfactor = 50);

CREATE TABLE towpath.schedule (
    name        text PRIMARY KEY,
    cron        text NOT NULL,
    timezone    text NOT NULL,
    operation   text NOT NULL,
    queue       text NOT NULL,
    payload     json NOT NULL,
    tenant      text NOT NULL,
    priority    smallint NOT NULL DEFAULT 1,
    max_attempts integer NOT NULL DEFAULT 3,
    paused      boolean NOT NULL DEFAULT false,
    next_fire   timestamptz NOT NULL,
    last_fire   timestamptz,
    last_job_id uuid
);

-- What every transaction changed in the counts, one row per queue and operation, compacted by the janitor into the two
-- tables below: pages read those, never the jobs, and no counter row is shared on the hot path.
CREATE TABLE towpath.tally (
    at           timestamptz NOT NULL DEFAULT now(),
    queue        text NOT NULL,
    operation    text NOT NULL,
    created      integer NOT NULL DEFAULT 0,
    started      integer NOT NULL DEFAULT 0,
    succeeded    integer NOT NULL DEFAULT 0,
    partial      integer NOT NULL DEFAULT 0,
    failed       integer NOT NULL DEFAULT 0,
    cancelled    integer NOT NULL DEFAULT 0,
    retried      integer NOT NULL DEFAULT 0,
    queued       integer NOT NULL DEFAULT 0,
    running      integer NOT NULL DEFAULT 0,
    waiting      integer NOT NULL DEFAULT 0,
    wait_seconds float8 NOT NULL DEFAULT 0,
    run_seconds  float8 NOT NULL DEFAULT 0
);
CREATE TABLE towpath.rollup (
    queue        text NOT NULL,
    operation    text NOT NULL,
    minute       timestamptz NOT NULL,
    created      bigint NOT NULL,
    started      bigint NOT NULL,
    succeeded    bigint NOT NULL,
    partial      bigint NOT NULL,
    failed       bigint NOT NULL,
    cancelled    bigint NOT NULL,
    retried      bigint NOT NULL,
    wait_seconds float8 NOT NULL,
    run_seconds  float8 NOT NULL,
    PRIMARY KEY (queue, operation, minute)
);
CREATE TABLE towpath.depth (
    queue   text PRIMARY KEY,
    queued  bigint NOT NULL,
    running bigint NOT NULL,
    waiting bigint NOT NULL
);

-- Enqueue from any driver, trigger or language, inside the caller's own transaction. The same stamp as the engine's own.
CREATE FUNCTION towpath.uuid7() RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT encode(overlay(overlay(uuid_send(gen_random_uuid())
                                  PLACING substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
                                                    FROM 3) FROM 1 FOR 6)
                          PLACING set_byte('\x00'::bytea, 0,
                                           (get_byte(uuid_send(gen_random_uuid()), 0) & 15) | 112) FROM 7 FOR 1),
                  'hex')::uuid
$$;

CREATE FUNCTION towpath.enqueue(
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
        INSERT INTO towpath.job (id, queue, operation, tenant, lane, priority, cost, pass, root_id, key, ready, gate,
                                 parked, reason, run_at, max_attempts, payload, trace)
        VALUES (new_id, enqueue.queue, enqueue.operation, enqueue.tenant, in_lane, enqueue.priority, enqueue.cost,
                greatest(floor, tail) + enqueue.cost / weight, new_id, enqueue.key, is_ready, gate,
                due IS NULL AND gate > 0, CASE WHEN due IS NOT NULL THEN 'scheduled' WHEN gate > 0 THEN 'capped' END,
                due, enqueue.max_attempts, enqueue.payload, enqueue.trace)
        ON CONFLICT DO NOTHING RETURNING id INTO found_id;
        EXIT WHEN found_id IS NOT NULL;
        SELECT j.id INTO found_id FROM towpath.job AS j
        WHERE j.tenant = enqueue.tenant AND j.operation = enqueue.operation AND j.key = enqueue.key
          AND j.key IS NOT NULL AND j.state IN ('queued', 'running', 'waiting');
        IF found_id IS NOT NULL THEN
            RETURN found_id;
        END IF;
        -- The holder ended between the two statements: the key is free again.
    END LOOP;
    INSERT INTO towpath.event (job_id, seq, attempt, name) VALUES (new_id, 1, 0, 'job.created');
    INSERT INTO towpath.tally (queue, operation, created, queued) VALUES (enqueue.queue, enqueue.operation, 1, 1);
    IF is_ready THEN
        PERFORM pg_notify('towpath', enqueue.queue);
    END IF;
    RETURN new_id;
END
$$;
