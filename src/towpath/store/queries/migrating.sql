-- Which migrations and functions this database has had. What makes the table is in each database's own file of this name.

-- name: applied_migrations
SELECT slice, number, checksum FROM towpath.migration

-- name: record_migration
INSERT INTO towpath.migration (slice, number, checksum, name, applied_at)
VALUES (:slice, :number, :checksum, :name, :now)
