-- name: take_tally
SELECT queue, operation, floor(at / 60) * 60 AS minute, sum(created) AS created, sum(started) AS started,
       sum(succeeded) AS succeeded, sum(partial) AS partial, sum(failed) AS failed, sum(cancelled) AS cancelled,
       sum(retried) AS retried, sum(queued) AS queued, sum(running) AS running, sum(waiting) AS waiting,
       sum(wait_seconds) AS wait_seconds, sum(run_seconds) AS run_seconds
FROM towpath.tally GROUP BY 1, 2, 3 ORDER BY 1, 2, 3

-- name: clear_tally
DELETE FROM towpath.tally
