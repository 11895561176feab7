-- Browsers that somebody has logged in from: what is counted against them is not what strangers have guessed.
CREATE TABLE towpath_device (
    hash       text NOT NULL,
    account_id text NOT NULL REFERENCES towpath_account (id) ON DELETE CASCADE,
    seen_at    REAL NOT NULL,
    PRIMARY KEY (hash, account_id)
);
CREATE INDEX towpath_device_account ON towpath_device (account_id);
CREATE INDEX towpath_device_seen ON towpath_device (seen_at);
