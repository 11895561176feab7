-- Lists of jobs by one set of filters. A list that goes on until it is full is one statement. A search takes a bounded number
-- of ids from an index, and `listed_jobs` then looks at those rows.

-- fragment: filters
(CAST(:operation AS text) IS NULL OR operation = CAST(:operation AS text))
  AND (CAST(:queue AS text) IS NULL OR queue = CAST(:queue AS text))
  AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
  AND state IN :states

-- fragment: failed_like
(CAST(:kind AS text) IS NULL OR error_kind = CAST(:kind AS text))
  AND (CAST(:message AS text) IS NULL OR error_group = CAST(:message AS text))
  AND (NOT CAST(:leaves AS boolean) OR error_kind <> 'children')

-- name: list_jobs
SELECT * FROM towpath.job
WHERE (CAST(:before AS text) IS NULL OR id < :before_id) AND {filters}
ORDER BY id DESC LIMIT :limit

-- name: list_children
SELECT * FROM towpath.job
WHERE parent_id = :parent AND parent_id IS NOT NULL AND (CAST(:before AS text) IS NULL OR id < :before_id) AND {filters}
ORDER BY id DESC LIMIT :limit

-- name: list_of_subject
-- Compared and ordered by subject and id together, so that no planner takes the way over all jobs.
SELECT * FROM towpath.job
WHERE subject_kind IS NOT NULL
  AND (subject_kind, subject_id, id) < (:subject_kind, :subject_id, :before_id)
  AND (subject_kind, subject_id) >= (:subject_kind, :subject_id)
  AND (CAST(:parent AS text) IS NULL OR CAST(parent_id AS text) = CAST(:parent AS text))
  AND {filters}
ORDER BY subject_kind DESC, subject_id DESC, id DESC LIMIT :limit

-- name: list_failed
SELECT * FROM towpath.job
WHERE rare_state = 'failed' AND (CAST(:after AS text) IS NULL OR id > :after_id) AND {filters} AND {failed_like}
ORDER BY id LIMIT :limit

-- name: ids_newest
SELECT id FROM towpath.job WHERE id < :before AND id >= :since ORDER BY id DESC LIMIT :limit

-- name: ids_owned
SELECT id FROM towpath.owned WHERE tenant = :tenant AND id < :before AND id >= :since ORDER BY id DESC LIMIT :limit

-- name: ids_in_state
SELECT id FROM towpath.job
WHERE rare_state = :state AND rare_state IS NOT NULL AND id < :before AND id >= :since
ORDER BY id DESC LIMIT :limit

-- name: ids_in_state_owned
SELECT id FROM towpath.job
WHERE tenant = :tenant AND rare_state = :state AND rare_state IS NOT NULL
  AND id < :before AND id >= :since
ORDER BY id DESC LIMIT :limit

-- name: ids_failed_operation
SELECT id FROM towpath.job
WHERE operation = :operation AND rare_state = 'failed' AND id < :before AND id >= :since
ORDER BY id DESC LIMIT :limit

-- name: ids_of_children
-- Compared and ordered by group and id together, so that no planner takes the way over all jobs.
SELECT id FROM towpath.job
WHERE parent_id = :parent_id AND parent_id IS NOT NULL
  AND (child_group, id) < (:child_group, :before) AND (child_group, id) >= (:child_group, :since)
ORDER BY child_group DESC, id DESC LIMIT :limit

-- name: child_groups
-- One step in the index per group, however many children each has.
WITH RECURSIVE known (child_group) AS (
    SELECT min(child_group) FROM towpath.job WHERE parent_id = :parent_id AND parent_id IS NOT NULL
    UNION ALL
    SELECT (SELECT min(child_group) FROM towpath.job
            WHERE parent_id = :parent_id AND parent_id IS NOT NULL AND child_group > known.child_group)
    FROM known WHERE known.child_group IS NOT NULL
)
SELECT child_group FROM known WHERE child_group IS NOT NULL LIMIT :limit

-- name: some_children
SELECT id, children_total FROM towpath.job
WHERE parent_id = :parent_id AND parent_id IS NOT NULL
ORDER BY child_group, id LIMIT :limit

-- name: running_pool
SELECT id FROM towpath.job
WHERE leased AND state = 'running' AND id IN (SELECT job_id FROM towpath.lease) ORDER BY queue, id LIMIT :limit

-- name: queued_pool
-- A queued job is ready, has a time to wait for, is parked behind its lane's gate, or waits for its old handler to end.
SELECT id FROM (SELECT id FROM towpath.job WHERE ready ORDER BY queue, priority, pass, id LIMIT :limit) AS ready_ones
UNION ALL
SELECT id FROM (SELECT id FROM towpath.job WHERE run_at IS NOT NULL
                ORDER BY run_at, id LIMIT :limit) AS scheduled
UNION ALL
SELECT id FROM (SELECT id FROM towpath.job
                WHERE parked AND gate > 0
                ORDER BY queue, lane, parked, priority, id LIMIT :limit) AS capped
UNION ALL
SELECT id FROM (SELECT id FROM towpath.job WHERE leased AND state = 'queued' AND id IN (SELECT job_id FROM towpath.lease)
                ORDER BY queue, id LIMIT :limit) AS ending

-- name: listed_jobs
-- The rows without what may be large in them.
SELECT {light_job_columns}
FROM towpath.job
WHERE id IN :ids AND {filters} AND {failed_like}
  AND (CAST(:parent AS text) IS NULL OR CAST(parent_id AS text) = CAST(:parent AS text))
  AND (CAST(:root AS text) IS NULL OR CAST(root_id AS text) = CAST(:root AS text))
  AND (NOT CAST(:roots AS boolean) OR parent_id IS NULL)
  AND (CAST(:created_after AS timestamptz) IS NULL OR created_at >= CAST(:created_after AS timestamptz))
  AND (CAST(:created_before AS timestamptz) IS NULL OR created_at < CAST(:created_before AS timestamptz))
  AND (CAST(:text AS text) IS NULL
       OR CAST(id AS text) LIKE CAST(:prefix AS text) ESCAPE '\'
       OR lower(operation) LIKE CAST(:text AS text) ESCAPE '\'
       OR lower(key) LIKE CAST(:text AS text) ESCAPE '\'
       OR (state = 'failed' AND lower(error ->> 'message') LIKE CAST(:text AS text) ESCAPE '\'))
ORDER BY id DESC LIMIT :limit

-- name: owned_among
SELECT id FROM towpath.owned WHERE tenant = :tenant AND id IN :ids

-- name: job_events_of_levels
SELECT job_id, seq, attempt, name, level, message, fields, ts FROM towpath.job_event
WHERE job_id = :job_id AND seq > :after AND seq <= :until AND level IN :levels ORDER BY seq LIMIT :limit
