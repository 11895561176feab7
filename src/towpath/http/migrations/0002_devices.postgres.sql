-- Browsers that somebody has logged in from: what is counted against them is not what strangers have guessed.
CREATE TABLE towpath.device (
    hash       text NOT NULL,
    account_id text NOT NULL REFERENCES towpath.account (id) ON DELETE CASCADE,
    seen_at    timestamptz NOT NULL,
    PRIMARY KEY (hash, account_id)
);
CREATE INDEX device_account ON towpath.device (account_id);
CREATE INDEX device_seen ON towpath.device (seen_at);
