CREATE TABLE job (
    id          BLOB NOT NULL UNIQUE,
    queue       TEXT NOT NULL,
    band        INTEGER NOT NULL DEFAULT 1,
    pass        REAL NOT NULL,
    state       TEXT NOT NULL DEFAULT 'queued',
    ready       INTEGER NOT NULL DEFAULT 1,
    attempt     INTEGER NOT NULL DEFAULT 0,
    seq         INTEGER NOT NULL DEFAULT 1,
    lease_until REAL,
    created_at  REAL NOT NULL,
    started_at  REAL,
    ended_at    REAL,
    payload     TEXT NOT NULL,
    result      TEXT
) STRICT;

CREATE INDEX job_ready ON job (queue, band, pass, id) WHERE ready;

CREATE TABLE event (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id BLOB NOT NULL,
    seq    INTEGER NOT NULL,
    type   TEXT NOT NULL,
    at     REAL NOT NULL,
    fields TEXT
) STRICT;

CREATE UNIQUE INDEX event_job ON event (job_id, seq);
