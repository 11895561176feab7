-- name: overdue_leases
SELECT count(*) AS jobs, min(lease_until) AS lease_until FROM towpath.job
WHERE leased AND lease_until < :before AND id IN (SELECT job_id FROM towpath.lease)

-- name: far_leases
SELECT count(*) AS jobs, max(lease_until) AS lease_until FROM towpath.job
WHERE leased AND lease_until > :beyond AND id IN (SELECT job_id FROM towpath.lease)

-- name: overdue_waits
SELECT count(*) AS jobs, min(deadline) AS deadline FROM towpath.job WHERE deadline IS NOT NULL AND deadline < :before

-- name: overdue_jobs
SELECT count(*) AS jobs, min(run_at) AS run_at FROM towpath.job
WHERE run_at IS NOT NULL AND run_at < :before AND coalesce(reason, '') <> 'no_handler'

-- name: overdue_schedules
-- What no process declares any more does not fire, and is not late.
SELECT name, next_fire FROM towpath.schedule AS plan
WHERE NOT paused AND next_fire < :before
  AND (origin = 'people'
       OR EXISTS (SELECT 1 FROM towpath.declared AS declared WHERE declared.name = plan.name AND until >= :before))
ORDER BY name

-- name: retired_schedules
SELECT name FROM towpath.schedule AS plan
WHERE origin = 'code' AND NOT paused
  AND NOT EXISTS (SELECT 1 FROM towpath.declared AS declared WHERE declared.name = plan.name AND until >= :now)
ORDER BY name

-- name: set_aside
SELECT queue, operation, count(*) AS jobs FROM towpath.job
WHERE run_at IS NOT NULL AND reason = 'no_handler'
GROUP BY queue, operation ORDER BY queue, operation LIMIT :limit

-- name: parked_lanes
SELECT queue, lane, count(*) AS jobs FROM towpath.job
WHERE parked AND gate > 0
GROUP BY queue, lane ORDER BY queue, lane LIMIT :limit

-- name: oldest_ready
SELECT min(created_at) AS created_at FROM (
    SELECT created_at FROM towpath.job WHERE queue = :queue AND ready ORDER BY priority, pass, id LIMIT 1
) AS first
