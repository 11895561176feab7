-- name: add_tally
INSERT INTO towpath.tally (queue, operation, created, started, succeeded, partial, failed, cancelled, retried, queued,
                           running, waiting, wait_seconds, run_seconds)
VALUES (:queue, :operation, :created, :started, :succeeded, :partial, :failed, :cancelled, :retried, :queued,
        :running, :waiting, :wait_seconds, :run_seconds)

-- name: any_tally
SELECT 1 AS found FROM towpath.tally LIMIT 1

-- name: add_depth
INSERT INTO towpath.depth AS depth (queue, queued, running, waiting) VALUES (:queue, :queued, :running, :waiting)
ON CONFLICT (queue) DO UPDATE
SET queued = depth.queued + excluded.queued, running = depth.running + excluded.running,
    waiting = depth.waiting + excluded.waiting

-- name: add_rollup
INSERT INTO towpath.rollup AS rollup (queue, operation, minute, created, started, succeeded, partial, failed, cancelled,
                                      retried, wait_seconds, run_seconds)
VALUES (:queue, :operation, :minute, :created, :started, :succeeded, :partial, :failed, :cancelled, :retried,
        :wait_seconds, :run_seconds)
ON CONFLICT (queue, operation, minute) DO UPDATE
SET created = rollup.created + excluded.created, started = rollup.started + excluded.started,
    succeeded = rollup.succeeded + excluded.succeeded, partial = rollup.partial + excluded.partial,
    failed = rollup.failed + excluded.failed, cancelled = rollup.cancelled + excluded.cancelled,
    retried = rollup.retried + excluded.retried, wait_seconds = rollup.wait_seconds + excluded.wait_seconds,
    run_seconds = rollup.run_seconds + excluded.run_seconds

-- name: depths
-- With what has been tallied since the last compaction: while no worker runs, nobody compacts.
SELECT queue, CAST(sum(queued) AS bigint) AS queued, CAST(sum(running) AS bigint) AS running,
       CAST(sum(waiting) AS bigint) AS waiting
FROM (SELECT queue, queued, running, waiting FROM towpath.depth
      UNION ALL
      SELECT queue, queued, running, waiting FROM towpath.tally) AS parts
GROUP BY queue ORDER BY queue

-- name: queue_rate
SELECT sum(succeeded + partial + failed + cancelled) AS ended, count(DISTINCT minute) AS minutes,
       sum(started) AS started
FROM towpath.rollup WHERE queue = :queue AND minute >= :since
