-- How much may be spent, in cents: by a tenant in a month or ever, or by one run (a root job and what it makes).
CREATE TABLE towpath.spend_limit (
    scope      text NOT NULL,
    name       text NOT NULL,
    cents      float8 NOT NULL,
    period     text NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (scope, name)
);
-- What has been spent or is held back for work that is under way, by whom and in which period.
CREATE TABLE towpath.spend_account (
    scope  text NOT NULL,
    name   text NOT NULL,
    period text NOT NULL,
    cents  float8 NOT NULL,
    PRIMARY KEY (scope, name, period)
);
-- One entry for each thing that costs: first what it may cost, then what it did.
CREATE TABLE towpath.expense (
    job_id     uuid NOT NULL,
    name       text NOT NULL,
    tenant     text NOT NULL,
    run        uuid NOT NULL,
    month      text NOT NULL,
    cents      float8 NOT NULL,
    settled    boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (job_id, name)
);
-- Jobs that found too little money. They are listed before they wait, so that nobody who brings some misses them.
CREATE TABLE towpath.spend_waiter (
    job_id uuid PRIMARY KEY,
    tenant text NOT NULL
);
CREATE INDEX spend_waiter_tenant ON towpath.spend_waiter (tenant);
