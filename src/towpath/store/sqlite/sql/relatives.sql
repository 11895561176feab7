-- name: ancestors
WITH RECURSIVE up (id, parent_id) AS (
    SELECT id, parent_id FROM towpath.job WHERE id IN :ids
    UNION
    SELECT job.id, job.parent_id FROM towpath.job AS job JOIN up ON job.id = up.parent_id
)
SELECT id FROM up

-- name: descendants
WITH RECURSIVE down (id) AS (
    SELECT id FROM towpath.job WHERE parent_id IN :ids
    UNION
    SELECT job.id FROM towpath.job AS job JOIN down ON job.parent_id = down.id
)
SELECT id FROM down
