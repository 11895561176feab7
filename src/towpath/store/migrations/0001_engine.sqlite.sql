CREATE TABLE towpath_job (
    id              text PRIMARY KEY NOT NULL,
    queue           text NOT NULL,
    operation       text NOT NULL,
    tenant          text NOT NULL,
    lane            text NOT NULL,
    priority        integer NOT NULL DEFAULT 1 CHECK (priority BETWEEN 0 AND 3),
    cost            REAL NOT NULL DEFAULT 1 CHECK (cost > 0),
    pass            REAL NOT NULL DEFAULT 0,
    parent_id       text,
    root_id         text NOT NULL,
    child_group     text,
    key             text,
    state           text NOT NULL DEFAULT 'queued'
                    CHECK (state IN ('queued', 'running', 'waiting', 'succeeded', 'partial', 'failed', 'cancelled')),
    ready           boolean NOT NULL DEFAULT false,
    gate            integer NOT NULL DEFAULT 0,
    parked          boolean NOT NULL DEFAULT false,
    reason          text,
    run_at          REAL,
    deadline        REAL,
    attempt         integer NOT NULL DEFAULT 0,
    failures        integer NOT NULL DEFAULT 0,
    retry_laters    integer NOT NULL DEFAULT 0,
    max_attempts    integer NOT NULL DEFAULT 3 CHECK (max_attempts > 0),
    wakes           integer NOT NULL DEFAULT 0,
    seq             integer NOT NULL DEFAULT 1,
    steps           integer NOT NULL DEFAULT 0,
    leased          boolean NOT NULL DEFAULT false,
    lease_until     REAL,
    worker_id       text,
    payload         text NOT NULL,
    result          text,
    error           text,
    error_kind      text,
    error_group     text,
    progress_current REAL,
    progress_total  REAL,
    children_total  integer NOT NULL DEFAULT 0,
    children_ok     integer NOT NULL DEFAULT 0,
    children_partial integer NOT NULL DEFAULT 0,
    children_bad    integer NOT NULL DEFAULT 0,
    await_group     text,
    await_open      integer NOT NULL DEFAULT 0,
    closing         boolean NOT NULL DEFAULT false,
    trace           text,
    created_at      REAL NOT NULL DEFAULT (unixepoch('subsec')),
    started_at      REAL,
    finished_at     REAL,
    CHECK (NOT ready OR state = 'queued'),
    CHECK (NOT parked OR (state = 'queued' AND NOT ready)),
    CHECK (state <> 'running' OR leased),
    CHECK (NOT leased OR lease_until IS NOT NULL),
    CHECK (state <> 'waiting' OR deadline IS NOT NULL)
);

-- The primary key is the only full index. Every other is partial on what it is for, so that a job pays for it only
-- while it is in that condition; columns that heartbeats and progress write are in none of them.
CREATE INDEX towpath_job_ready ON towpath_job (queue, priority, pass, id) WHERE ready;
CREATE INDEX towpath_job_lane ON towpath_job (queue, priority, lane, pass) WHERE ready;
CREATE INDEX towpath_job_leased ON towpath_job (queue, id) WHERE leased;
CREATE INDEX towpath_job_due ON towpath_job (run_at, id) WHERE state = 'queued' AND run_at IS NOT NULL;
CREATE INDEX towpath_job_deadline ON towpath_job (deadline, id) WHERE state = 'waiting';
CREATE INDEX towpath_job_gated ON towpath_job (queue, lane, parked, priority, id)
    WHERE gate > 0 AND (leased OR state IN ('queued', 'running', 'waiting'));
CREATE INDEX towpath_job_family ON towpath_job (parent_id, child_group, id) WHERE parent_id IS NOT NULL;
CREATE INDEX towpath_job_failed ON towpath_job (operation, id) WHERE state = 'failed';
CREATE UNIQUE INDEX towpath_job_key ON towpath_job (tenant, operation, key)
    WHERE key IS NOT NULL AND state IN ('queued', 'running', 'waiting');

CREATE TABLE towpath_event (
    id      integer PRIMARY KEY AUTOINCREMENT,
    job_id  text NOT NULL,
    seq     integer NOT NULL,
    attempt integer NOT NULL,
    name    text NOT NULL,
    level   text NOT NULL DEFAULT 'info',
    message text,
    fields  text,
    ts      REAL NOT NULL DEFAULT (unixepoch('subsec')),
    UNIQUE (job_id, seq)
);

CREATE TABLE towpath_step (
    job_id      text NOT NULL,
    name        text NOT NULL,
    kind        text NOT NULL,
    ord         integer NOT NULL,
    done        boolean NOT NULL,
    output      text,
    attempt     integer NOT NULL,
    retries     integer NOT NULL DEFAULT 0,
    duration_ms REAL,
    model       text,
    tokens_in   integer,
    tokens_out  integer,
    cost_cents  REAL,
    until       REAL,
    created_at  REAL NOT NULL DEFAULT (unixepoch('subsec')),
    PRIMARY KEY (job_id, name)
);

CREATE TABLE towpath_signal (
    id          text PRIMARY KEY,
    job_id      text NOT NULL,
    name        text NOT NULL,
    payload     text NOT NULL,
    consumed_by text,
    created_at  REAL NOT NULL DEFAULT (unixepoch('subsec'))
);
CREATE INDEX towpath_signal_pending ON towpath_signal (job_id, name, id) WHERE consumed_by IS NULL;
CREATE INDEX towpath_signal_job ON towpath_signal (job_id);

CREATE TABLE towpath_lane (
    queue      text NOT NULL,
    lane       text NOT NULL,
    weight     REAL NOT NULL DEFAULT 1 CHECK (weight > 0),
    max_slots  integer CHECK (max_slots >= 0),
    max_roots  integer CHECK (max_roots >= 0),
    updated_at REAL NOT NULL DEFAULT (unixepoch('subsec')),
    PRIMARY KEY (queue, lane),
    CHECK (max_slots IS NULL OR max_roots IS NULL)
);

CREATE TABLE towpath_queue (
    name      text PRIMARY KEY,
    paused    boolean NOT NULL DEFAULT false,
    paused_at REAL,
    max_slots integer CHECK (max_slots >= 0)
);

CREATE TABLE towpath_clock (
    queue    text NOT NULL,
    priority integer NOT NULL,
    floor    REAL NOT NULL,
    PRIMARY KEY (queue, priority)
);

CREATE TABLE towpath_budget (
    name          text PRIMARY KEY,
    blocked_until REAL NOT NULL,
    reason        text
);

CREATE TABLE towpath_worker (
    id          text PRIMARY KEY,
    name        text NOT NULL,
    queues      text NOT NULL,
    operations  text NOT NULL,
    concurrency integer NOT NULL,
    running     integer NOT NULL DEFAULT 0,
    version     text NOT NULL,
    started_at  REAL NOT NULL,
    seen_at     REAL NOT NULL,
    stopped_at  REAL
);

CREATE TABLE towpath_schedule (
    name        text PRIMARY KEY,
    cron        text NOT NULL,
    timezone    text NOT NULL,
    operation   text NOT NULL,
    queue       text NOT NULL,
    payload     text NOT NULL,
    tenant      text NOT NULL,
    priority    integer NOT NULL DEFAULT 1,
    max_attempts integer NOT NULL DEFAULT 3,
    paused      boolean NOT NULL DEFAULT false,
    next_fire   REAL NOT NULL,
    last_fire   REAL,
    last_job_id text
);

-- What every transaction changed in the counts, one row per queue and operation, compacted by the janitor into the two
-- tables below: pages read those, never the jobs, and no counter row is shared on the hot path.
CREATE TABLE towpath_tally (
    at           REAL NOT NULL DEFAULT (unixepoch('subsec')),
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
    wait_seconds REAL NOT NULL DEFAULT 0,
    run_seconds  REAL NOT NULL DEFAULT 0
);
CREATE TABLE towpath_rollup (
    queue        text NOT NULL,
    operation    text NOT NULL,
    minute       REAL NOT NULL,
    created      integer NOT NULL,
    started      integer NOT NULL,
    succeeded    integer NOT NULL,
    partial      integer NOT NULL,
    failed       integer NOT NULL,
    cancelled    integer NOT NULL,
    retried      integer NOT NULL,
    wait_seconds REAL NOT NULL,
    run_seconds  REAL NOT NULL,
    PRIMARY KEY (queue, operation, minute)
);
CREATE TABLE towpath_depth (
    queue   text PRIMARY KEY,
    queued  integer NOT NULL,
    running integer NOT NULL,
    waiting integer NOT NULL
);
