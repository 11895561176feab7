-- What every claim and settle had to pay for, made cheaper. Decision 0018 says what each part costs and why it may go.
--
-- Conditions on rows are gone: the database read them anew from their text with every statement. The moves keep them, and
-- the tests look at every row they have touched.
--
-- No index names `state` or `leased` any more, so a plain success touches no index at all. What they were for is told by
-- columns that a plain job never sets: `rare_state` is the state if it is one that few jobs are in, `live_key` is the key
-- while it is held, `gate` is negative when an ended job no longer counts for its lane, and `run_at` and `deadline` are only
-- set while a job is scheduled or waits.
CREATE TABLE towpath_job_lean (
    id              text PRIMARY KEY NOT NULL,
    queue           text NOT NULL,
    operation       text NOT NULL,
    tenant          text NOT NULL,
    lane            text NOT NULL,
    priority        integer NOT NULL DEFAULT 1,
    cost            REAL NOT NULL DEFAULT 1,
    pass            REAL NOT NULL DEFAULT 0,
    parent_id       text,
    root_id         text NOT NULL,
    child_group     text,
    key             text,
    state           text NOT NULL DEFAULT 'queued',
    ready           boolean NOT NULL DEFAULT false,
    gate            integer NOT NULL DEFAULT 0,
    parked          boolean NOT NULL DEFAULT false,
    reason          text,
    run_at          REAL,
    deadline        REAL,
    attempt         integer NOT NULL DEFAULT 0,
    failures        integer NOT NULL DEFAULT 0,
    retry_laters    integer NOT NULL DEFAULT 0,
    max_attempts    integer NOT NULL DEFAULT 3,
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
    due_at          REAL,
    rare_state      text,
    live_key        text
);
INSERT INTO towpath_job_lean
SELECT id, queue, operation, tenant, lane, priority, cost, pass, parent_id, root_id, child_group, key, state, ready,
       CASE WHEN leased OR state IN ('queued', 'running', 'waiting') THEN gate ELSE -gate END, parked, reason,
       run_at, deadline, attempt, failures, retry_laters, max_attempts, wakes, seq, steps, leased, lease_until,
       worker_id, payload, result, error, error_kind, error_group, progress_current, progress_total,
       children_total, children_ok, children_partial, children_bad, await_group, await_open, closing, trace,
       created_at, started_at, finished_at, due_at, CASE WHEN state IN ('waiting', 'partial', 'failed',
       'cancelled') THEN state END, CASE WHEN state IN ('queued', 'running', 'waiting') THEN key END
FROM towpath_job ORDER BY id;
DROP TABLE towpath_job;
PRAGMA legacy_alter_table = ON;
ALTER TABLE towpath_job_lean RENAME TO towpath_job;
PRAGMA legacy_alter_table = OFF;

CREATE INDEX towpath_job_ready ON towpath_job (queue, priority, pass, id) WHERE ready;
CREATE INDEX towpath_job_lane ON towpath_job (queue, priority, lane, pass) WHERE ready;
CREATE INDEX towpath_job_family ON towpath_job (parent_id, child_group, id) WHERE parent_id IS NOT NULL;
CREATE INDEX towpath_job_due ON towpath_job (run_at, id) WHERE run_at IS NOT NULL;
CREATE INDEX towpath_job_deadline ON towpath_job (deadline, id) WHERE deadline IS NOT NULL;
CREATE INDEX towpath_job_gated ON towpath_job (queue, lane, parked, priority, id) WHERE gate > 0;
CREATE INDEX towpath_job_failed ON towpath_job (operation, id) WHERE rare_state = 'failed';
CREATE UNIQUE INDEX towpath_job_key ON towpath_job (tenant, operation, live_key) WHERE live_key IS NOT NULL;
CREATE INDEX towpath_job_rare ON towpath_job (rare_state, id) WHERE rare_state IS NOT NULL;
CREATE INDEX towpath_job_rare_of ON towpath_job (tenant, rare_state, id) WHERE rare_state IS NOT NULL;

DROP VIEW towpath_v_causes;
CREATE VIEW towpath_v_causes AS
SELECT tenant, operation, error_kind AS kind, error_group AS cause, count(*) AS jobs,
       strftime('%Y-%m-%d %H:%M:%f', min(finished_at), 'unixepoch') AS first_at,
       strftime('%Y-%m-%d %H:%M:%f', max(finished_at), 'unixepoch') AS last_at
FROM towpath_job WHERE rare_state = 'failed' AND error_kind <> 'children'
GROUP BY tenant, operation, error_kind, error_group;

-- Which jobs are leased: one row per claim, not per job. A job that is leased is listed in some row; a row may also list
-- jobs that have ended since, so readers look at `job.leased` as well. No lease of a row runs out before `until`.
CREATE TABLE towpath_lease (
    id        text PRIMARY KEY NOT NULL,
    worker_id text,
    queue     text NOT NULL,
    jobs      text NOT NULL,
    until     REAL NOT NULL
) WITHOUT ROWID;
INSERT INTO towpath_lease (id, worker_id, queue, jobs, until)
SELECT lower(hex(randomblob(16))), worker_id, queue, json_group_array(id), min(lease_until) FROM towpath_job WHERE leased
GROUP BY worker_id, queue;
CREATE VIEW towpath_held AS
SELECT lease.id AS lease_id, lease.queue, lease.until, job.value AS job_id
FROM towpath_lease AS lease, json_each(lease.jobs) AS job;
