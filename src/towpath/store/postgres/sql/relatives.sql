-- Jobs are looked up one by one (that is what the OFFSET is for), however small the planner believes the table to be.

-- name: ancestors
WITH RECURSIVE up (id, parent_id) AS (
    SELECT id, parent_id FROM towpath.job WHERE id IN :ids
    UNION
    SELECT job.id, job.parent_id
    FROM up CROSS JOIN LATERAL (SELECT id, parent_id FROM towpath.job WHERE id = up.parent_id OFFSET 0) AS job
)
SELECT id FROM up

-- name: descendants
WITH RECURSIVE down (id) AS (
    SELECT id FROM towpath.job WHERE parent_id IN :ids
    UNION
    SELECT job.id FROM down CROSS JOIN LATERAL (SELECT id FROM towpath.job WHERE parent_id = down.id OFFSET 0) AS job
)
SELECT id FROM down
