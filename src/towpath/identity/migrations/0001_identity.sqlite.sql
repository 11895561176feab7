-- Who may use the server. Secrets are never stored as they are: passwords as argon2id, everything else that was drawn at
-- random as its SHA-256.
CREATE TABLE towpath_account (
    id           text PRIMARY KEY,
    name         text NOT NULL,
    -- The name in one spelling, so that `Alice` and `alice` cannot be two people.
    name_key     text NOT NULL UNIQUE,
    admin        integer NOT NULL DEFAULT 0,
    password     text,
    created_at   REAL NOT NULL,
    last_seen_at REAL,
    disabled_at  REAL
);

CREATE TABLE towpath_membership (
    account_id text NOT NULL REFERENCES towpath_account (id) ON DELETE CASCADE,
    tenant     text NOT NULL,
    PRIMARY KEY (account_id, tenant)
);
CREATE INDEX towpath_membership_tenant ON towpath_membership (tenant);

-- A browser that is logged in. `expires_at` is the latest it can last; `idle_until` moves on with every use.
CREATE TABLE towpath_session (
    id         text PRIMARY KEY,
    hash       text NOT NULL UNIQUE,
    account_id text NOT NULL REFERENCES towpath_account (id) ON DELETE CASCADE,
    tenant     text NOT NULL,
    address    text,
    agent      text,
    created_at REAL NOT NULL,
    seen_at    REAL NOT NULL,
    idle_until REAL NOT NULL,
    expires_at REAL NOT NULL
);
CREATE INDEX towpath_session_account ON towpath_session (account_id);
CREATE INDEX towpath_session_expires ON towpath_session (expires_at);

CREATE TABLE towpath_token (
    id           text PRIMARY KEY,
    hash         text NOT NULL UNIQUE,
    prefix       text NOT NULL,
    name         text NOT NULL,
    account_id   text NOT NULL REFERENCES towpath_account (id) ON DELETE CASCADE,
    tenant       text NOT NULL,
    scopes       text NOT NULL,
    created_at   REAL NOT NULL,
    expires_at   REAL,
    last_used_at REAL
);
CREATE INDEX towpath_token_account ON towpath_token (account_id, id);

-- Links that log somebody in, or let them choose a password, once. `used_for` is what it was used for: the session made.
CREATE TABLE towpath_link (
    hash       text PRIMARY KEY,
    account_id text NOT NULL REFERENCES towpath_account (id) ON DELETE CASCADE,
    purpose    text NOT NULL CHECK (purpose IN ('login', 'reset')),
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    used_for   text
);
CREATE INDEX towpath_link_account ON towpath_link (account_id);
CREATE INDEX towpath_link_expires ON towpath_link (expires_at);

-- Attempts to log in that count against a name or an address; the subject is a hash, because what people type as their
-- name is now and then their password.
CREATE TABLE towpath_throttle (
    subject       text PRIMARY KEY,
    failures      integer NOT NULL,
    last_at       REAL NOT NULL,
    blocked_until REAL
);
CREATE INDEX towpath_throttle_last ON towpath_throttle (last_at);

-- Who an account is at an OpenID provider.
CREATE TABLE towpath_oidc_account (
    issuer     text NOT NULL,
    subject    text NOT NULL,
    account_id text NOT NULL REFERENCES towpath_account (id) ON DELETE CASCADE,
    created_at REAL NOT NULL,
    PRIMARY KEY (issuer, subject)
);

-- A log-in that is under way at the provider. It belongs to the browser that began it.
CREATE TABLE towpath_oidc_flow (
    state_hash   text PRIMARY KEY,
    browser_hash text NOT NULL,
    nonce        text NOT NULL,
    verifier     text NOT NULL,
    expires_at   REAL NOT NULL
);
CREATE INDEX towpath_oidc_flow_expires ON towpath_oidc_flow (expires_at);

-- What was done, by whom. Names are kept as they were, so that a line outlives the account. Ids grow with time.
CREATE TABLE towpath_audit (
    id         text PRIMARY KEY,
    ts         REAL NOT NULL,
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
CREATE INDEX towpath_audit_account ON towpath_audit (account_id, id);

-- Browsers that somebody has logged in from: what is counted against them is not what strangers have guessed.
CREATE TABLE towpath_device (
    hash       text NOT NULL,
    account_id text NOT NULL REFERENCES towpath_account (id) ON DELETE CASCADE,
    seen_at    REAL NOT NULL,
    PRIMARY KEY (hash, account_id)
);
CREATE INDEX towpath_device_account ON towpath_device (account_id);
CREATE INDEX towpath_device_seen ON towpath_device (seen_at);
