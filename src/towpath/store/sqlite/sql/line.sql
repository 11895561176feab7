-- name: line_parked
-- The first :limit jobs that wait behind the cap of each of these lanes.
SELECT job.id, job.root_id, job.parent_id, job.queue, job.operation, job.subject_kind, job.subject_id, job.lane, job.priority,
       job.attempt, job.cost, job.children_total
FROM json_each(:lanes) AS wanted
CROSS JOIN towpath.job AS job ON job.id IN (
    SELECT id FROM towpath.job AS one
    WHERE one.queue = :queue AND one.lane = wanted.value AND one.parked AND one.gate > 0
    ORDER BY one.priority, one.id LIMIT :limit)

-- name: line_families
-- The first :limit children of each of these jobs, summed up by queue and operation: how many are open, how much of their cost is done, and
-- how many seconds that took. Of a child that has not ended, its progress says how much is done, and its recorded steps how long it took.
SELECT parent_id, queue, operation, sum(open) AS open, avg(cost) AS cost,
       sum(CASE WHEN wall > 0 THEN done END) AS done, sum(CASE WHEN done > 0 THEN wall END) AS wall
FROM (
    SELECT child.parent_id, child.queue, child.operation, child.cost, child.state IN ('queued', 'running', 'waiting') AS open,
           CASE WHEN child.state IN ('succeeded', 'partial') THEN child.cost
                WHEN child.progress_total > 0
                THEN child.cost * min(1.0, child.progress_current / child.progress_total) END AS done,
           CASE WHEN child.finished_at IS NOT NULL AND child.attempt = 1 THEN child.finished_at - child.started_at
                WHEN child.progress_current > 0
                THEN (SELECT sum(duration_ms) / 1000.0 FROM towpath.step AS step
                      WHERE step.job_id = child.id AND step.done) END AS wall
    FROM json_each(:ids) AS wanted
    CROSS JOIN towpath.job AS child ON child.id IN (
        SELECT id FROM towpath.job AS one
        WHERE one.parent_id = wanted.value AND one.parent_id IS NOT NULL ORDER BY one.child_group, one.id LIMIT :limit)
) AS children
GROUP BY parent_id, queue, operation
