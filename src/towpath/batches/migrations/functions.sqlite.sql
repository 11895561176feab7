-- revision: 2
-- How the newest of a batch's jobs had ended that are gone: written down when its row goes, whoever removes it.
DROP TRIGGER IF EXISTS batch_outlives_job;
CREATE TRIGGER batch_outlives_job BEFORE DELETE ON towpath_job
WHEN OLD.subject_kind = 'batch' AND OLD.parent_id IS NULL BEGIN
    UPDATE towpath_batch
    SET last_job = OLD.id, last_kind = OLD.operation, last_state = OLD.state, last_error = OLD.error
    WHERE id = OLD.subject_id AND (last_job IS NULL OR last_job < OLD.id);
END;

-- What provider_state.py and speech_state.py tell, for reports: one row for each batch that has been handed over to a provider.
DROP VIEW IF EXISTS towpath_batch_state;
CREATE VIEW towpath_batch_state AS
SELECT id, tenant, task_type, provider, created_at,
       CASE task_type WHEN 'transcription' THEN
           json_patch(
               json_object(
                   'task_type', task_type, 'provider', provider, 'dataset_ids', json(dataset_ids),
                   'invalid_urls', json((SELECT json_group_array(coalesce(json_extract(wrong.value, '$.input'), ''))
                                         FROM json_each(coalesce(invalid_inputs, '[]')) AS wrong)),
                   'jobs', json_group_array(json(speech))),
               json_object('gcs_map', json(CASE provider WHEN 'SARVAM' THEN
                   json_group_object(external_id, sources) FILTER (WHERE external_id IS NOT NULL) END)))
       ELSE
           json_object('task_type', task_type, 'input_dataset_ids', json(dataset_ids),
                       'jobs', json_group_array(json(completion)))
       END AS provider_state
FROM (
    SELECT batch.id, batch.tenant, batch.task_type, batch.provider, batch.created_at, batch.dataset_ids,
           batch.invalid_inputs, ordered.external_id,
           (SELECT coalesce(group_concat(coalesce(json_extract(input.value, '$[5]'), ''), ', '), '')
            FROM json_each(ordered.ordered, '$.inputs') AS input WHERE json_type(ordered.ordered, '$.inputs') = 'array'
           ) AS sources,
           json_patch(
               json_object(
                   'model', ordered.model, 'status', ordered.said, 'external_job_id', ordered.external_id,
                   'transient_failures', ordered.transient_failures),
               json_object('output_uri', ordered.output_uri, 'error', ordered.error)
           ) AS completion,
           json_patch(
               json_object('external_job_id', ordered.external_id, 'status', ordered.said),
               json_object(
                   'error', ordered.error,
                   'transient_failures', CASE WHEN ordered.provider <> 'AZURE' THEN ordered.transient_failures END,
                   'gcs_uri', CASE ordered.provider WHEN 'AWS' THEN
                       coalesce(json_extract(ordered.ordered, '$.inputs[0][5]'), '') END,
                   'filename', CASE ordered.provider WHEN 'AWS' THEN
                       coalesce(json_extract(ordered.ordered, '$.inputs[0][1]'), '') END,
                   'model', CASE WHEN ordered.provider NOT IN ('AZURE', 'SARVAM', 'AWS') THEN ordered.model END,
                   'result', json(CASE WHEN ordered.state IN ('completed', 'partial') THEN json_array(json_patch('{}', json_object(
                       'uri', '/api/batches/' || batch.id || '/results',
                       'completed', json_extract(ordered.answer, '$.counts.completed'),
                       'failed', json_extract(ordered.answer, '$.counts.failed')))) END))
           ) AS speech
    FROM towpath_batch AS batch
    JOIN towpath_job AS job ON job.subject_kind = 'batch' AND job.subject_id = batch.id AND job.parent_id IS NULL
    JOIN (
        SELECT *, CASE state WHEN 'completed' THEN 'COMPLETED' WHEN 'partial' THEN 'PARTIAL_COMPLETE'
                             WHEN 'failed' THEN 'FAILED' WHEN 'cancelled' THEN 'CANCELLED'
                             ELSE coalesce(status, 'SUBMITTED') END AS said
        FROM towpath_provider_job WHERE NOT dropped
    ) AS ordered ON ordered.job_id = job.id
    WHERE batch.removed_at IS NULL AND (ordered.external_id IS NOT NULL OR ordered.ended_at IS NOT NULL)
    ORDER BY ordered.job_id, ordered.name, ordered.part
)
GROUP BY id;
