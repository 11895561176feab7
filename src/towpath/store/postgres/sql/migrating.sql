-- name: lock_migrations
-- Until the transaction ends: of several processes that start at once the first migrates, and the others find it done. The
-- number stands for that and nothing else, in every release.
SELECT pg_advisory_xact_lock(7270951)

-- name: make_schema
CREATE SCHEMA IF NOT EXISTS towpath

-- name: make_migration_table
CREATE TABLE IF NOT EXISTS towpath.migration (
    slice      text NOT NULL,
    number     integer NOT NULL,
    name       text NOT NULL,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL,
    PRIMARY KEY (slice, number, checksum)
)

-- name: migration_table
-- A row if it is there.
SELECT 1 AS found WHERE to_regclass('towpath.migration') IS NOT NULL

-- name: migration_checksums
-- A row if the table has them: those of databases from before the first release have not.
SELECT 1 AS found FROM pg_attribute
WHERE attrelid = 'towpath.migration'::regclass AND attname = 'checksum' AND NOT attisdropped

-- name: foreign_indexes_and_triggers
-- PostgreSQL changes tables in place: what others have put on them stays, and nothing has to be put back.
SELECT NULL::text AS name, NULL::text AS sql WHERE false
