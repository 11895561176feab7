-- name: lock_migrations
-- Whoever writes is alone anyway.
SELECT 1 AS locked

-- name: make_schema
-- There are none here: our tables have a prefix.
SELECT 1 AS made

-- name: make_migration_table
CREATE TABLE IF NOT EXISTS towpath.migration (
    slice      text NOT NULL,
    number     integer NOT NULL,
    name       text NOT NULL,
    checksum   text NOT NULL,
    applied_at REAL NOT NULL,
    PRIMARY KEY (slice, number, checksum)
)

-- name: migration_table
-- A row if it is there.
SELECT 1 AS found FROM sqlite_schema WHERE name = 'towpath_migration'

-- name: migration_checksums
-- A row if the table has them: those of databases from before the first release have not.
SELECT 1 AS found FROM pragma_table_info('towpath_migration') WHERE name = 'checksum'

-- name: foreign_indexes_and_triggers
-- What others have put on our tables, with the statements that made them. To change a table SQLite often has to make it anew,
-- and they go with the old one.
SELECT name, sql FROM sqlite_schema
WHERE type IN ('index', 'trigger') AND sql IS NOT NULL
  AND substr(tbl_name, 1, 8) = 'towpath_' AND substr(name, 1, 8) <> 'towpath_'
