-- Who may use the server. Secrets are never stored as they are: passwords as argon2id, everything else that was drawn at
-- random as its SHA-256.
CREATE TABLE towpath.account (
    id           text PRIMARY KEY,
    name         text NOT NULL,
    -- The name in one spelling, so that `Alice` and `alice` cannot be two people.
    name_key     text NOT NULL UNIQUE,
    admin        boolean NOT NULL DEFAULT false,
    password     text,
    created_at   timestamptz NOT NULL,
    last_seen_at timestamptz,
    disabled_at  timestamptz
);

CREATE TABLE towpath.membership (
    account_id text NOT NULL REFERENCES towpath.account (id) ON DELETE CASCADE,
    tenant     text NOT NULL,
    PRIMARY KEY (account_id, tenant)
);
CREATE INDEX membership_tenant ON towpath.membership (tenant);

-- A browser that is logged in. `expires_at` is the latest it can last; `idle_until` moves on with every use.
CREATE TABLE towpath.session (
    id         text PRIMARY KEY,
    hash       text NOT NULL UNIQUE,
    account_id text NOT NULL REFERENCES towpath.account (id) ON DELETE CASCADE,
    tenant     text NOT NULL,
    address    text,
    agent      text,
    created_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL,
    idle_until timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX session_account ON towpath.session (account_id);
CREATE INDEX session_expires ON towpath.session (expires_at);

CREATE TABLE towpath.token (
    id           text PRIMARY KEY,
    hash         text NOT NULL UNIQUE,
    prefix       text NOT NULL,
    name         text NOT NULL,
    account_id   text NOT NULL REFERENCES towpath.account (id) ON DELETE CASCADE,
    tenant       text NOT NULL,
    scopes       text NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    last_used_at timestamptz
);
CREATE INDEX token_account ON towpath.token (account_id, id);

-- Links that log somebody in, or let them choose a password, once. `used_for` is what it was used for: the session made.
CREATE TABLE towpath.link (
    hash       text PRIMARY KEY,
    account_id text NOT NULL REFERENCES towpath.account (id) ON DELETE CASCADE,
    purpose    text NOT NULL CHECK (purpose IN ('login', 'reset')),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_for   text
);
CREATE INDEX link_account ON towpath.link (account_id);
CREATE INDEX link_expires ON towpath.link (expires_at);

-- Attempts to log in that count against a name or an address; the subject is a hash, because what people type as their
-- name is now and then their password.
CREATE TABLE towpath.throttle (
    subject       text PRIMARY KEY,
    failures      integer NOT NULL,
    last_at       timestamptz NOT NULL,
    blocked_until timestamptz
);
CREATE INDEX throttle_last ON towpath.throttle (last_at);

-- Who an account is at an OpenID provider.
CREATE TABLE towpath.oidc_account (
    issuer     text NOT NULL,
    subject    text NOT NULL,
    account_id text NOT NULL REFERENCES towpath.account (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (issuer, subject)
);

-- A log-in that is under way at the provider. It belongs to the browser that began it.
CREATE TABLE towpath.oidc_flow (
    state_hash   text PRIMARY KEY,
    browser_hash text NOT NULL,
    nonce        text NOT NULL,
    verifier     text NOT NULL,
    expires_at   timestamptz NOT NULL
);
CREATE INDEX oidc_flow_expires ON towpath.oidc_flow (expires_at);

-- What was done, by whom. Names are kept as they were, so that a line outlives the account. Ids grow with time.
CREATE TABLE towpath.audit (
    id         text PRIMARY KEY,
    ts         timestamptz NOT NULL,
    account_id text,
    account    text,
    via        text NOT NULL,
    tenant     text,
    action     text NOT NULL,
    target     text,
    address    text,
    request_id text,
    details    text
);
CREATE INDEX audit_account ON towpath.audit (account_id, id);

-- Browsers that somebody has logged in from: what is counted against them is not what strangers have guessed.
CREATE TABLE towpath.device (
    hash       text NOT NULL,
    account_id text NOT NULL REFERENCES towpath.account (id) ON DELETE CASCADE,
    seen_at    timestamptz NOT NULL,
    PRIMARY KEY (hash, account_id)
);
CREATE INDEX device_account ON towpath.device (account_id);
CREATE INDEX device_seen ON towpath.device (seen_at);
