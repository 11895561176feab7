-- revision: 1
-- How the jobs of tasks had ended that are gone: written down when their rows go, whoever removes them.
CREATE OR REPLACE FUNCTION towpath.fleet_task_outlives_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE towpath.fleet_task SET last_job = OLD.id::text, last_state = OLD.state, last_error = OLD.error::text
    WHERE id = OLD.subject_id AND (last_job IS NULL OR last_job < OLD.id::text);
    RETURN OLD;
END
$$;
CREATE OR REPLACE TRIGGER fleet_task_outlives_job BEFORE DELETE ON towpath.job
FOR EACH ROW WHEN (OLD.subject_kind = 'task')
EXECUTE FUNCTION towpath.fleet_task_outlives_job();

-- Tasks as whoever reads them by SQL wants them: the newest job, and the newest time each was sent. URLs are left out.
CREATE OR REPLACE VIEW towpath.fleet_tasks AS
SELECT task.id AS task_id, task.tenant, task.operation, task.source, task.object_key, sent.worker_id, job.state,
       CASE
           WHEN coalesce(job.state, task.last_state) = 'succeeded' THEN 'COMPLETED'
           WHEN coalesce(job.state, task.last_state) = 'partial' THEN 'COMPLETED'
           WHEN coalesce(job.state, task.last_state) = 'cancelled' THEN 'CANCELLED'
           WHEN coalesce(job.state, task.last_state, 'failed') = 'failed' THEN 'FAILED'
           WHEN sent.claimed_at IS NOT NULL AND sent.ended_at IS NULL THEN 'IN-PROGRESS'
           WHEN sent.task_id IS NOT NULL AND sent.ended_at IS NULL THEN 'QUEUED'
           WHEN job.state = 'queued' AND job.failures > 0 AND job.run_at > now() THEN 'FAILED'
           ELSE 'PENDING'
       END AS status,
       task.created_at, greatest(task.created_at, sent.made_at, sent.heard_at, sent.ended_at, job.finished_at) AS updated_at,
       coalesce(job.error, task.last_error::json) ->> 'message' AS failure_reason, coalesce(job.failures, 0) AS retries,
       CASE WHEN job.state = 'queued' AND job.failures > 0 THEN job.run_at END AS retry_at
FROM towpath.fleet_task AS task
LEFT JOIN LATERAL (
    SELECT * FROM towpath.job
    WHERE subject_kind = 'task' AND subject_kind IS NOT NULL AND subject_id = task.id AND parent_id IS NULL
    ORDER BY id DESC LIMIT 1
) AS job ON true
LEFT JOIN LATERAL (
    SELECT * FROM towpath.fleet_dispatch WHERE task_id = task.id ORDER BY attempt DESC LIMIT 1
) AS sent ON true
WHERE task.removed_at IS NULL;
