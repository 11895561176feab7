-- Where a tenant wants to hear of its jobs' endings. The secret is kept as it is, because messages are signed with it.
CREATE TABLE towpath.webhook (
    id            text PRIMARY KEY,
    tenant        text NOT NULL,
    url           text NOT NULL,
    secret        text NOT NULL,
    states        json NOT NULL,
    operations    json,
    active        boolean NOT NULL,
    active_since  timestamptz NOT NULL,
    failing_since timestamptz,
    -- Why it is not active, if nobody switched it off: it waits for a person.
    paused_reason text,
    created_at    timestamptz NOT NULL
);
CREATE INDEX webhook_tenant ON towpath.webhook (tenant, id);
CREATE INDEX webhook_active ON towpath.webhook (tenant) WHERE active;

-- What was sent for a webhook: each is a job of its own, and this is what the job does not know.
CREATE TABLE towpath.webhook_delivery (
    webhook_id      text NOT NULL,
    id              uuid NOT NULL,
    job_id          uuid,
    event           text NOT NULL,
    response_status integer,
    -- How often it was sent. The job was entered more often, if it had to wait for a receiver that was down.
    attempts        integer NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (webhook_id, id)
);
CREATE INDEX webhook_delivery_created ON towpath.webhook_delivery (created_at);

-- How far the stream of events has been read for webhooks. One row; null before the first webhook.
CREATE TABLE towpath.webhook_cursor (
    name  text PRIMARY KEY,
    token text
);
INSERT INTO towpath.webhook_cursor (name) VALUES ('endings');
