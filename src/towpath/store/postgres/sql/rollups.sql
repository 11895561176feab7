-- name: take_tally
WITH gone AS (
    DELETE FROM towpath.tally
    WHERE ctid = ANY (ARRAY (SELECT ctid FROM towpath.tally LIMIT 20000 FOR UPDATE SKIP LOCKED))
    RETURNING *
)
SELECT queue, operation, date_trunc('minute', at) AS minute, sum(created)::int AS created, sum(started)::int AS started,
       sum(succeeded)::int AS succeeded, sum(partial)::int AS partial, sum(failed)::int AS failed,
       sum(cancelled)::int AS cancelled, sum(retried)::int AS retried, sum(queued)::int AS queued,
       sum(running)::int AS running, sum(waiting)::int AS waiting, sum(wait_seconds) AS wait_seconds,
       sum(run_seconds) AS run_seconds
FROM gone GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
