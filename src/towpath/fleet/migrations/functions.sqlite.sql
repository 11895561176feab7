-- revision: 1
-- How the jobs of tasks had ended that are gone: written down when their rows go, whoever removes them.
DROP TRIGGER IF EXISTS fleet_task_outlives_job;
CREATE TRIGGER fleet_task_outlives_job BEFORE DELETE ON towpath_job
WHEN OLD.subject_kind = 'task' BEGIN
    UPDATE towpath_fleet_task SET last_job = OLD.id, last_state = OLD.state, last_error = OLD.error
    WHERE id = OLD.subject_id AND (last_job IS NULL OR last_job < OLD.id);
END;

-- Tasks as whoever reads them by SQL wants them: the newest job, and the newest time each was sent. URLs are left out.
DROP VIEW IF EXISTS towpath_fleet_tasks;
CREATE VIEW towpath_fleet_tasks AS
SELECT task.id AS task_id, task.tenant, task.operation, task.source, task.object_key, sent.worker_id, job.state,
       CASE
           WHEN coalesce(job.state, task.last_state) = 'succeeded' THEN 'COMPLETED'
           WHEN coalesce(job.state, task.last_state) = 'partial' THEN 'COMPLETED'
           WHEN coalesce(job.state, task.last_state) = 'cancelled' THEN 'CANCELLED'
           WHEN coalesce(job.state, task.last_state, 'failed') = 'failed' THEN 'FAILED'
           WHEN sent.claimed_at IS NOT NULL AND sent.ended_at IS NULL THEN 'IN-PROGRESS'
           WHEN sent.task_id IS NOT NULL AND sent.ended_at IS NULL THEN 'QUEUED'
           WHEN job.state = 'queued' AND job.failures > 0 AND job.run_at > unixepoch('subsec') THEN 'FAILED'
           ELSE 'PENDING'
       END AS status,
       task.created_at,
       max(task.created_at, coalesce(sent.made_at, 0), coalesce(sent.heard_at, 0), coalesce(sent.ended_at, 0)) AS updated_at,
       json_extract(coalesce(job.error, task.last_error), '$.message') AS failure_reason,
       coalesce(job.failures, 0) AS retries,
       CASE WHEN job.state = 'queued' AND job.failures > 0 THEN job.run_at END AS retry_at
FROM towpath_fleet_task AS task
LEFT JOIN towpath_job AS job ON job.id = (
    SELECT max(id) FROM towpath_job WHERE subject_kind = 'task' AND subject_id = task.id AND parent_id IS NULL
)
LEFT JOIN towpath_fleet_dispatch AS sent ON sent.task_id = task.id AND sent.attempt = (
    SELECT max(attempt) FROM towpath_fleet_dispatch WHERE task_id = task.id
)
WHERE task.removed_at IS NULL;
