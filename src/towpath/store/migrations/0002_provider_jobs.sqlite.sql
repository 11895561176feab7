-- What was ordered from batch providers: a row for each job that there is at one of them, or may be.
-- `name` and `part` say which order of its job it is. One that was dropped with its job's records counts no more.
CREATE TABLE towpath_provider_job (
    id                 text PRIMARY KEY,
    job_id             text NOT NULL,
    name               text NOT NULL,
    part               integer NOT NULL,
    dropped            boolean NOT NULL DEFAULT false,
    tenant             text NOT NULL,
    provider           text NOT NULL,
    model              text NOT NULL,
    shard              integer NOT NULL DEFAULT 0,
    key                text NOT NULL UNIQUE,
    ordered            text NOT NULL,
    state              text NOT NULL,
    prepared           text,
    called_at          REAL,
    external_id        text,
    status             text,
    polls              integer NOT NULL DEFAULT 0,
    transient_failures integer NOT NULL DEFAULT 0,
    answer             text,
    error              text,
    output_uri         text,
    polled_at          REAL,
    next_poll_at       REAL,
    deadline           REAL,
    created_at         REAL NOT NULL DEFAULT (unixepoch('subsec')),
    submitted_at       REAL,
    ended_at           REAL
);
CREATE UNIQUE INDEX towpath_provider_job_part ON towpath_provider_job (job_id, name, part) WHERE NOT dropped;
CREATE INDEX towpath_provider_job_job ON towpath_provider_job (job_id);
-- Only jobs that are polled have a time for it, so looking for those that are due costs what is due.
CREATE INDEX towpath_provider_job_due ON towpath_provider_job (next_poll_at) WHERE next_poll_at IS NOT NULL;
CREATE INDEX towpath_provider_job_external ON towpath_provider_job (provider, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX towpath_provider_job_unknown ON towpath_provider_job (id) WHERE state = 'unknown';
