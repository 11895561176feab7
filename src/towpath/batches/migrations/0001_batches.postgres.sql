-- What was asked for at once. There is no status here: it is told from the jobs, see status.py.
CREATE TABLE towpath.batch (
    id             text PRIMARY KEY,
    tenant         text NOT NULL,
    lane           text NOT NULL,
    title          text NOT NULL,
    task_type      text NOT NULL,
    provider       text NOT NULL,
    -- JSON: names, options, ids.
    models         text NOT NULL,
    settings       text NOT NULL,
    dataset_ids    text NOT NULL,
    -- Requests, once they have been read; what became of them, once that is known.
    count          bigint,
    invalid        bigint,
    ok             bigint,
    failed         bigint,
    -- JSON: the first of those that cannot be asked, with the reasons.
    invalid_inputs text,
    estimate_cents double precision,
    cost_cents     double precision,
    result_bytes   bigint,
    retry_of       text,
    created_by     text,
    creator        text,
    created_at     timestamptz NOT NULL,
    removed_at     timestamptz,
    -- How the newest of its jobs had ended that are gone; see functions.postgres.sql.
    last_job       text,
    last_kind      text,
    last_state     text,
    last_error     text
);
CREATE INDEX batch_tenant ON towpath.batch (tenant, id);

-- A stored list of inputs. Its lines are a blob of its own, an uploaded file, or still at an address.
CREATE TABLE towpath.batch_dataset (
    id         text PRIMARY KEY,
    tenant     text NOT NULL,
    name       text NOT NULL,
    asset_id   text,
    -- Where the lines come from, as it may be shown: without what stands behind its question mark.
    source     text,
    -- The batch that it came with. It goes with that one, unless another batch names it.
    batch_id   text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX batch_dataset_batch ON towpath.batch_dataset (batch_id);
