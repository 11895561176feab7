-- name: line_parked
-- The first :limit jobs that wait behind the cap of each of these lanes.
SELECT job.id, job.root_id, job.parent_id, job.queue, job.operation, job.subject_kind, job.subject_id, job.lane, job.priority,
       job.attempt, job.cost, job.children_total
FROM unnest(CAST(:lanes AS text[])) AS wanted (lane)
CROSS JOIN LATERAL (
    SELECT id, root_id, parent_id, queue, operation, subject_kind, subject_id, lane, priority, attempt, cost, children_total
    FROM towpath.job
    WHERE queue = :queue AND lane = wanted.lane AND parked AND gate > 0 ORDER BY priority, id LIMIT :limit
) AS job

-- name: line_families
-- The first :limit children of each of these jobs, summed up by queue and operation: how many are open, how much of their cost is done, and
-- how many seconds that took. Of a child that has not ended, its progress says how much is done, and its recorded steps how long it took.
SELECT parent_id, queue, operation, sum(open) AS open, avg(cost) AS cost, sum(done) AS done, sum(wall) AS wall
FROM (
    SELECT wanted.id AS parent_id, child.queue, child.operation, child.open, child.cost,
           CASE WHEN child.wall > 0 THEN child.done END AS done, CASE WHEN child.done > 0 THEN child.wall END AS wall
    FROM unnest(CAST(:ids AS uuid[])) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT queue, operation, cost, CASE WHEN state IN ('queued', 'running', 'waiting') THEN 1 ELSE 0 END AS open,
               CASE WHEN state IN ('succeeded', 'partial') THEN cost
                    WHEN progress_total > 0 THEN cost * least(1.0, progress_current / progress_total) END AS done,
               CASE WHEN finished_at IS NOT NULL AND attempt = 1 THEN date_part('epoch', finished_at - started_at)
                    WHEN progress_current > 0
                    THEN (SELECT sum(duration_ms) / 1000.0 FROM towpath.step WHERE step.job_id = job.id AND step.done) END AS wall
        FROM towpath.job AS job
        WHERE parent_id = wanted.id AND parent_id IS NOT NULL ORDER BY child_group, id LIMIT :limit
    ) AS child
) AS children
GROUP BY parent_id, queue, operation
