CREATE TABLE job (
    id         uuid PRIMARY KEY,
    queue      text NOT NULL,
    band       smallint NOT NULL DEFAULT 1,
    pass       double precision NOT NULL,
    state      text NOT NULL DEFAULT 'queued',
    ready      boolean NOT NULL DEFAULT true,
    attempt    integer NOT NULL DEFAULT 0,
    seq        integer NOT NULL DEFAULT 1,
    lease_until timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    ended_at   timestamptz,
    payload    json NOT NULL,
    result     json
) WITH (fillfactor = 70);

CREATE INDEX job_ready ON job (queue, band, pass, id) WHERE ready;

CREATE TABLE event (
    job_id uuid NOT NULL,
    seq    integer NOT NULL,
    type   text NOT NULL,
    at     timestamptz NOT NULL DEFAULT now(),
    fields json,
    PRIMARY KEY (job_id, seq)
);
