-- Until when a worker is taken to be alive if nothing more is heard of it: as long as the leases of its jobs, which it says
-- with every beat. And which process it is, for others on the same machine. Decision 0021 says what for. Workers of the release
-- before write neither; a minute is theirs, as before.
ALTER TABLE towpath_worker ADD COLUMN alive_until REAL;
ALTER TABLE towpath_worker ADD COLUMN process text;

DROP VIEW towpath_v_workers;
CREATE VIEW towpath_v_workers AS
SELECT id, name, queues, operations, concurrency, running, version,
       strftime('%Y-%m-%d %H:%M:%f', started_at, 'unixepoch') AS started_at,
       strftime('%Y-%m-%d %H:%M:%f', seen_at, 'unixepoch') AS seen_at,
       strftime('%Y-%m-%d %H:%M:%f', stopped_at, 'unixepoch') AS stopped_at,
       stopped_at IS NULL AND coalesce(alive_until, seen_at + 60) > (julianday('now') - 2440587.5) * 86400
       AND seen_at <= (julianday('now') - 2440587.5) * 86400 + 5 AS alive
FROM towpath_worker;
