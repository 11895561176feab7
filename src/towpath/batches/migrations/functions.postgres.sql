-- revision: 2
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

-- What provider_state.py and speech_state.py tell, for reports: one row for each batch that has been handed over to a provider.
CREATE OR REPLACE VIEW towpath.batch_state AS
SELECT batch.id, batch.tenant, batch.task_type, batch.provider, batch.created_at,
       CASE batch.task_type WHEN 'transcription' THEN
           jsonb_build_object(
               'task_type', batch.task_type, 'provider', batch.provider, 'dataset_ids', batch.dataset_ids::jsonb,
               'invalid_urls', (SELECT coalesce(jsonb_agg(coalesce(wrong.value->>'input', '') ORDER BY wrong.place), '[]')
                                FROM jsonb_array_elements(coalesce(batch.invalid_inputs, '[]')::jsonb)
                                     WITH ORDINALITY AS wrong (value, place)),
               'jobs', jsonb_agg(job.speech ORDER BY job.job_id, job.name, job.part))
           || CASE batch.provider WHEN 'SARVAM' THEN
                  jsonb_build_object('gcs_map', coalesce(
                      jsonb_object_agg(job.external_id, job.sources) FILTER (WHERE job.external_id IS NOT NULL), '{}'))
              ELSE '{}' END
       ELSE
           jsonb_build_object(
               'task_type', batch.task_type, 'input_dataset_ids', batch.dataset_ids::jsonb,
               'jobs', jsonb_agg(job.completion ORDER BY job.job_id, job.name, job.part))
       END AS provider_state
FROM towpath.batch AS batch
JOIN (
    SELECT job.subject_id AS batch_id, ordered.job_id, ordered.name, ordered.part, ordered.external_id,
           (SELECT coalesce(string_agg(coalesce(input.value->>5, ''), ', ' ORDER BY input.place), '')
            FROM json_array_elements(CASE json_typeof(ordered.ordered->'inputs') WHEN 'array' THEN ordered.ordered->'inputs'
                                                                                 ELSE '[]' END)
                 WITH ORDINALITY AS input (value, place)) AS sources,
           jsonb_build_object('model', ordered.model, 'status', said.status, 'external_job_id', ordered.external_id,
                              'transient_failures', ordered.transient_failures)
           || jsonb_strip_nulls(jsonb_build_object('output_uri', ordered.output_uri, 'error', ordered.error)) AS completion,
           jsonb_build_object('external_job_id', ordered.external_id, 'status', said.status)
           || jsonb_strip_nulls(jsonb_build_object(
                  'error', ordered.error,
                  'transient_failures', CASE WHEN ordered.provider <> 'AZURE' THEN ordered.transient_failures END,
                  'gcs_uri', CASE ordered.provider WHEN 'AWS' THEN coalesce(ordered.ordered->'inputs'->0->>5, '') END,
                  'filename', CASE ordered.provider WHEN 'AWS' THEN coalesce(ordered.ordered->'inputs'->0->>1, '') END,
                  'model', CASE WHEN ordered.provider NOT IN ('AZURE', 'SARVAM', 'AWS') THEN ordered.model END,
                  'result', CASE WHEN ordered.state IN ('completed', 'partial') THEN jsonb_build_array(jsonb_build_object(
                      'uri', '/api/batches/' || job.subject_id || '/results',
                      'completed', ordered.answer->'counts'->'completed', 'failed', ordered.answer->'counts'->'failed')) END
              )) AS speech
    FROM towpath.job AS job
    JOIN towpath.provider_job AS ordered ON ordered.job_id = job.id AND NOT ordered.dropped
    CROSS JOIN LATERAL (
        SELECT CASE ordered.state WHEN 'completed' THEN 'COMPLETED' WHEN 'partial' THEN 'PARTIAL_COMPLETE'
                                  WHEN 'failed' THEN 'FAILED' WHEN 'cancelled' THEN 'CANCELLED'
                                  ELSE coalesce(ordered.status, 'SUBMITTED') END AS status
    ) AS said
    WHERE job.subject_kind = 'batch' AND job.parent_id IS NULL
      AND (ordered.external_id IS NOT NULL OR ordered.ended_at IS NOT NULL)
) AS job ON job.batch_id = batch.id
WHERE batch.removed_at IS NULL
GROUP BY batch.id;
