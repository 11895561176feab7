-- How the newest of a batch's jobs had ended that are gone: written down when its row goes, whoever removes it.
DROP TRIGGER IF EXISTS batch_outlives_job;
CREATE TRIGGER batch_outlives_job BEFORE DELETE ON towpath_job
WHEN OLD.subject_kind = 'batch' AND OLD.parent_id IS NULL BEGIN
    UPDATE towpath_batch
    SET last_job = OLD.id, last_kind = OLD.operation, last_state = OLD.state, last_error = OLD.error
    WHERE id = OLD.subject_id AND (last_job IS NULL OR last_job < OLD.id);
END;

-- What provider_state.py tells, for reports: one row for each batch that has been handed over to a provider.
DROP VIEW IF EXISTS towpath_batch_state;
CREATE VIEW towpath_batch_state AS
SELECT id, tenant, task_type, provider, created_at,
       json_object('task_type', task_type, 'input_dataset_ids', json(dataset_ids),
                   'jobs', json_group_array(json(job))) AS provider_state
FROM (
    SELECT batch.id, batch.tenant, batch.task_type, batch.provider, batch.created_at, batch.dataset_ids,
           json_patch(
               json_object(
                   'model', ordered.model,
                   'status', CASE ordered.state WHEN 'completed' THEN 'COMPLETED' WHEN 'partial' THEN 'PARTIAL_COMPLETE'
                                                WHEN 'failed' THEN 'FAILED' WHEN 'cancelled' THEN 'CANCELLED'
                                                ELSE coalesce(ordered.status, 'SUBMITTED') END,
                   'external_job_id', ordered.external_id, 'transient_failures', ordered.transient_failures),
               json_object('output_uri', ordered.output_uri, 'error', ordered.error)
           ) AS job
    FROM towpath_batch AS batch
    JOIN towpath_job AS job ON job.subject_kind = 'batch' AND job.subject_id = batch.id AND job.parent_id IS NULL
    JOIN towpath_provider_job AS ordered ON ordered.job_id = job.id AND NOT ordered.dropped
    WHERE batch.removed_at IS NULL AND (ordered.external_id IS NOT NULL OR ordered.ended_at IS NOT NULL)
    ORDER BY ordered.job_id, ordered.name, ordered.part
)
GROUP BY id;
