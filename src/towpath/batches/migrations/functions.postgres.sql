-- How the newest of a batch's jobs had ended that are gone: written down when its row goes, whoever removes it.
CREATE OR REPLACE FUNCTION towpath.batch_outlives_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE towpath.batch
    SET last_job = OLD.id::text, last_kind = OLD.operation, last_state = OLD.state, last_error = OLD.error::text
    WHERE id = OLD.subject_id AND (last_job IS NULL OR last_job < OLD.id::text);
    RETURN OLD;
END
$$;
CREATE OR REPLACE TRIGGER batch_outlives_job BEFORE DELETE ON towpath.job
FOR EACH ROW WHEN (OLD.subject_kind = 'batch' AND OLD.parent_id IS NULL)
EXECUTE FUNCTION towpath.batch_outlives_job();

-- What provider_state.py tells, for reports: one row for each batch that has been handed over to a provider.
CREATE OR REPLACE VIEW towpath.batch_state AS
SELECT batch.id, batch.tenant, batch.task_type, batch.provider, batch.created_at,
       jsonb_build_object(
           'task_type', batch.task_type, 'input_dataset_ids', batch.dataset_ids::jsonb,
           'jobs', jsonb_agg(
               jsonb_build_object(
                   'model', ordered.model,
                   'status', CASE ordered.state WHEN 'completed' THEN 'COMPLETED' WHEN 'partial' THEN 'PARTIAL_COMPLETE'
                                                WHEN 'failed' THEN 'FAILED' WHEN 'cancelled' THEN 'CANCELLED'
                                                ELSE coalesce(ordered.status, 'SUBMITTED') END,
                   'external_job_id', ordered.external_id, 'transient_failures', ordered.transient_failures)
               || jsonb_strip_nulls(jsonb_build_object('output_uri', ordered.output_uri, 'error', ordered.error))
               ORDER BY ordered.job_id, ordered.name, ordered.part)
       ) AS provider_state
FROM towpath.batch AS batch
JOIN towpath.job AS job ON job.subject_kind = 'batch' AND job.subject_id = batch.id AND job.parent_id IS NULL
JOIN towpath.provider_job AS ordered ON ordered.job_id = job.id AND NOT ordered.dropped
WHERE batch.removed_at IS NULL AND (ordered.external_id IS NOT NULL OR ordered.ended_at IS NOT NULL)
GROUP BY batch.id;
