-- How much may be spent, in cents: by a tenant in a month or ever, or by one run (a root job and what it makes).
CREATE TABLE towpath_spend_limit (
    scope      text NOT NULL,
    name       text NOT NULL,
    cents      REAL NOT NULL,
    period     text NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (scope, name)
);
-- What has been spent or is held back for work that is under way, by whom and in which period.
CREATE TABLE towpath_spend_account (
    scope  text NOT NULL,
    name   text NOT NULL,
    period text NOT NULL,
    cents  REAL NOT NULL,
    PRIMARY KEY (scope, name, period)
);
-- One entry for each thing that costs: first what it may cost, then what it did.
CREATE TABLE towpath_expense (
    job_id     text NOT NULL,
    name       text NOT NULL,
    tenant     text NOT NULL,
    run        text NOT NULL,
    month      text NOT NULL,
    cents      REAL NOT NULL,
    settled    boolean NOT NULL DEFAULT false,
    created_at REAL NOT NULL,
    PRIMARY KEY (job_id, name)
);
-- Jobs that found too little money. They are listed before they wait, so that nobody who brings some misses them.
CREATE TABLE towpath_spend_waiter (
    job_id text PRIMARY KEY,
    tenant text NOT NULL
);
CREATE INDEX towpath_spend_waiter_tenant ON towpath_spend_waiter (tenant);
