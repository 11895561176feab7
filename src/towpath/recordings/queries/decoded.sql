-- name: decoded_of
-- With the state of its job; null: the job is gone, and its audio with it.
SELECT decoded.job_id, decoded.bytes, job.state FROM towpath.recording_decoded AS decoded
LEFT JOIN towpath.job AS job ON job.id = decoded.job_id
WHERE decoded.tenant = :tenant

-- name: decoded_take
INSERT INTO towpath.recording_decoded (job_id, tenant, bytes) VALUES (:id, :tenant, :bytes)
ON CONFLICT (job_id) DO UPDATE SET bytes = excluded.bytes

-- name: decoded_forget
DELETE FROM towpath.recording_decoded WHERE job_id IN :ids
