-- name: lock_jobs
SELECT * FROM towpath.job WHERE id IN :ids ORDER BY id FOR UPDATE

-- name: jobs_by_id
SELECT * FROM towpath.job WHERE id IN :ids ORDER BY id

-- name: job_by_key
SELECT id FROM towpath.job
WHERE tenant = :tenant AND operation = :operation AND live_key = :key AND live_key IS NOT NULL

-- name: due_jobs
SELECT * FROM towpath.job
WHERE run_at IS NOT NULL AND run_at <= :now
ORDER BY run_at, id LIMIT :limit FOR UPDATE SKIP LOCKED

-- name: due_ids
SELECT id, run_at AS mark FROM towpath.job
WHERE run_at IS NOT NULL AND run_at <= :now AND (run_at, id) > (:mark, :after)
ORDER BY run_at, id LIMIT :limit

-- name: next_due
SELECT (SELECT min(run_at) FROM towpath.job WHERE run_at IS NOT NULL) AS run_at,
       (SELECT min(deadline) FROM towpath.job WHERE deadline IS NOT NULL) AS deadline

-- name: next_timer
-- When the next job becomes ready just because time passes: scheduled jobs, retries and sleeps. Not the deadlines of other waits, which end
-- in a failure, and not jobs that were set aside because no worker knew their operation.
SELECT (SELECT min(run_at) FROM towpath.job
        WHERE run_at IS NOT NULL AND reason <> 'no_handler' AND queue IN :queues) AS run_at,
       (SELECT min(deadline) FROM towpath.job
        WHERE deadline IS NOT NULL AND reason = 'sleep' AND queue IN :queues) AS deadline

-- name: ending_leases
-- With what is known of their workers. A lease that ends beyond anything a worker may ask for was given before the clock was
-- moved back.
SELECT job.id, job.attempt, job.state, job.lease_until, worker.seen_at, worker.alive_until, worker.stopped_at, worker.process
FROM towpath.job AS job LEFT JOIN towpath.worker AS worker ON worker.id = job.worker_id
WHERE job.leased AND (job.lease_until < :soon OR job.lease_until > :beyond) AND job.id > :after
  AND job.id IN (SELECT job_id FROM towpath.lease)
ORDER BY job.id LIMIT :limit

-- name: expired_waits
SELECT id, attempt, deadline AS mark FROM towpath.job
WHERE deadline IS NOT NULL AND deadline <= :now AND (deadline, id) > (:mark, :after)
ORDER BY deadline, id LIMIT :limit

-- name: no_handler_jobs
SELECT * FROM towpath.job
WHERE run_at IS NOT NULL AND reason = 'no_handler' AND operation IN :operations
ORDER BY run_at, id LIMIT :limit FOR UPDATE SKIP LOCKED

-- name: any_no_handler
SELECT 1 AS found FROM towpath.job
WHERE run_at IS NOT NULL AND reason = 'no_handler' AND operation IN :operations LIMIT 1

-- name: leased_in_queue
SELECT count(*) AS used FROM towpath.lease WHERE queue = :queue

-- name: leased_by
SELECT id, attempt, state, started_at, priority, pass FROM towpath.job
WHERE leased AND worker_id = :worker_id AND id IN (SELECT job_id FROM towpath.lease)

-- name: child_states
SELECT state, count(*) AS jobs FROM towpath.job
WHERE parent_id = :parent_id AND parent_id IS NOT NULL AND child_group = :child_group
GROUP BY state

-- name: lock_group
-- Locked in the order of ids, as by everybody. It is written as the order of texts, which no index has: for the order of ids a planner may
-- read through the primary key, and so through all jobs.
SELECT * FROM towpath.job
WHERE parent_id = :parent_id AND parent_id IS NOT NULL AND child_group = :child_group
ORDER BY CAST(id AS text) COLLATE "C" FOR UPDATE

-- name: children_page
SELECT * FROM towpath.job
WHERE parent_id = :parent_id AND parent_id IS NOT NULL AND child_group = :child_group AND id > :after
ORDER BY id LIMIT :limit

-- name: failed_children_sample
SELECT id, error FROM towpath.job
WHERE parent_id = :parent_id AND parent_id IS NOT NULL AND child_group = :child_group AND state = 'failed'
ORDER BY id LIMIT 3
