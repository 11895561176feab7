-- The line that the jobs of a queue wait in, for telling what is before one of them. Every answer is bounded, however long the line is:
-- of what is ready only the first :limit jobs are read. A root is a job without a parent, a part is a job that has one.

-- name: line_asked
-- Roots of these subjects that have not ended.
SELECT id, queue, operation, subject_id, lane, state, ready, parked, attempt, children_total, reason FROM towpath.job
WHERE subject_kind = :kind AND subject_kind IS NOT NULL AND subject_id IN :ids AND parent_id IS NULL
  AND state IN ('queued', 'running', 'waiting')

-- name: line_subjects
-- Ready roots with a subject, in the order in which they are begun. Those of the same pass are ordered by subject and not by id, because
-- only the index `job_in_line` has that order: a planner that took `job_ready` would read through all the parts that stand in between.
SELECT id, queue, operation, subject_kind, subject_id, lane, priority, pass, cost, attempt, children_total,
       children_total - children_ok - children_partial - children_bad AS children_open
FROM towpath.job
WHERE queue = :queue AND ready AND parent_id IS NULL AND subject_kind IS NOT NULL
ORDER BY priority, pass, subject_id LIMIT :limit

-- name: line_plain
-- Roots without a subject among the first that are ready.
SELECT id, queue, operation, subject_kind, subject_id, lane, priority, pass, cost, attempt, children_total, children_open
FROM (SELECT id, queue, operation, subject_kind, subject_id, lane, priority, pass, cost, attempt, parent_id, children_total,
             children_total - children_ok - children_partial - children_bad AS children_open
      FROM towpath.job WHERE queue = :queue AND ready ORDER BY priority, pass, id LIMIT :limit) AS ahead
WHERE parent_id IS NULL AND subject_kind IS NULL

-- name: line_parts
-- The parts among the first ready jobs, summed up by root and operation. The parts of one root were stamped at equal distances, so that
-- their number with the first and the last pass says where each of them stands.
SELECT root_id, operation, count(*) AS parts, min(pass) AS first, max(pass) AS last, sum(cost) AS cost
FROM (SELECT root_id, parent_id, operation, pass, cost FROM towpath.job
      WHERE queue = :queue AND ready ORDER BY priority, pass, id LIMIT :limit) AS ahead
WHERE parent_id IS NOT NULL GROUP BY root_id, operation

-- name: line_horizon
-- The place of the first ready job that was not read any more, if there are so many. From there on, jobs that nobody knows of may stand
-- between those that are known.
SELECT priority, pass FROM towpath.job WHERE queue = :queue AND ready ORDER BY priority, pass, id LIMIT 1 OFFSET :limit

-- name: line_held
SELECT id, root_id, parent_id, operation, cost, attempt, children_total, started_at, progress_current, progress_total
FROM towpath.job
WHERE leased AND state = 'running' AND id IN (SELECT job_id FROM towpath.lease WHERE queue = :queue)

-- name: line_begun
SELECT id, queue, operation, subject_kind, subject_id, lane, priority, pass, cost, attempt, children_total,
       children_total - children_ok - children_partial - children_bad AS children_open
FROM towpath.job WHERE id IN :ids

-- name: line_lanes
SELECT lane, weight, max_slots, max_roots FROM towpath.lane WHERE queue = :queue AND lane IN :lanes

-- name: line_busy_elsewhere
-- Jobs of other queues that these workers are at.
SELECT worker_id, count(*) AS jobs FROM towpath.job
WHERE leased AND queue <> :queue AND worker_id IN :workers AND id IN (SELECT job_id FROM towpath.lease)
GROUP BY worker_id

-- name: run_durations
-- How long jobs took lately, by bucket (core/histogram.py).
SELECT operation, bucket, CAST(sum(jobs) AS bigint) AS jobs FROM towpath.histogram
WHERE queue = :queue AND operation IN :operations AND quarter >= :since AND what = 'run' GROUP BY operation, bucket
