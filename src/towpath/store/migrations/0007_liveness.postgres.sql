-- Until when a worker is taken to be alive if nothing more is heard of it: as long as the leases of its jobs, which it says
-- with every beat. And which process it is, for others on the same machine. Decision 0021 says what for. Workers of the release
-- before write neither; a minute is theirs, as before.
ALTER TABLE towpath.worker ADD COLUMN alive_until timestamptz;
ALTER TABLE towpath.worker ADD COLUMN process text;

CREATE OR REPLACE VIEW towpath.v_workers AS
SELECT id, name, queues::text AS queues, operations::text AS operations, concurrency, running, version, started_at, seen_at,
       stopped_at, stopped_at IS NULL AND coalesce(alive_until, seen_at + interval '60 seconds') > now()
                   AND seen_at <= now() + interval '5 seconds' AS alive
FROM towpath.worker;
