-- The jobs of recordings.

-- name: recording_job_add
INSERT INTO towpath.recording_job (job_id, recording_id, tenant, kind, is_new_upload, created_at)
VALUES (:job_id, :recording_id, :tenant, :kind, :is_new_upload, :now)
ON CONFLICT DO NOTHING

-- name: recording_jobs
SELECT job_id, recording_id, tenant, kind, is_new_upload FROM towpath.recording_job
WHERE recording_id IN :ids ORDER BY job_id

-- name: recording_job_rows
SELECT * FROM towpath.job WHERE id IN (SELECT job_id FROM towpath.recording_job WHERE recording_id IN :ids) ORDER BY id

-- name: recording_job_link
SELECT job_id, recording_id, tenant, kind, is_new_upload FROM towpath.recording_job WHERE job_id = :job_id

-- name: recording_jobs_recent
SELECT job.id AS job_id, link.recording_id
FROM towpath.recording_job AS link
JOIN towpath.job AS job ON job.id = link.job_id
JOIN towpath.recording AS recording ON recording.id = link.recording_id
WHERE link.tenant = :tenant AND recording.removed_at IS NULL
  AND (recording.created_by IS NULL OR recording.created_by = :account)
  AND (job.finished_at IS NULL OR job.finished_at > :since)
ORDER BY link.job_id DESC LIMIT :limit

-- name: recording_jobs_completed
SELECT link.job_id
FROM towpath.recording_job AS link
JOIN towpath.job AS job ON job.id = link.job_id
JOIN towpath.recording AS recording ON recording.id = link.recording_id
WHERE link.tenant = :tenant AND job.state IN ('succeeded', 'partial') AND NOT job.leased
  AND (recording.created_by IS NULL OR recording.created_by = :account)
ORDER BY link.job_id LIMIT :limit

-- name: recording_job_holds
SELECT 1 AS found FROM towpath.job WHERE id = :id AND attempt = :fence AND state = 'running' FOR UPDATE

-- name: recording_lane_known
SELECT 1 AS found FROM towpath.lane WHERE queue = :queue AND lane = :lane

-- name: recording_jobs_forget
DELETE FROM towpath.recording_job WHERE job_id IN :ids

-- name: recording_jobs_delete
DELETE FROM towpath.recording_job WHERE recording_id IN :ids
