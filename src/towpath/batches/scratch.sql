-- name: open
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
BEGIN;
CREATE TABLE entry (key PRIMARY KEY, line text) WITHOUT ROWID;

-- name: add
INSERT OR IGNORE INTO entry (key, line) VALUES (?, ?)

-- name: sorted
SELECT line FROM entry ORDER BY key
