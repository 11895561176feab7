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

-- name: recording_lane_line
-- The recordings of a lane that have not been transcribed, in the order in which they are begun.
SELECT job.id AS job_id, job.parked, job.state, job.children_total, job.progress_current, job.progress_total, recording.duration,
       recording.bytes, recording.media_type, recording.speakers
FROM towpath.job AS job
JOIN towpath.recording_job AS link ON link.job_id = job.id
JOIN towpath.recording AS recording ON recording.id = link.recording_id
WHERE job.queue = :queue AND job.lane = :lane AND job.gate > 0 AND job.parent_id IS NULL
  AND job.state IN ('queued', 'running', 'waiting')
ORDER BY job.parked, job.priority, (job.attempt = 0), job.id LIMIT :limit

-- name: recordings_ahead
-- Recordings that are begun before a ready job, in the fair order; the parts of those under way do not count.
SELECT count(*) AS recordings FROM (
    SELECT 1 FROM towpath.job
    WHERE queue = :queue AND ready AND parent_id IS NULL AND children_total = 0
      AND (priority < :priority OR (priority = :priority AND (pass < :pass OR (pass = :pass AND id < :id)))) LIMIT :limit
) AS ahead

-- name: recording_lane_known
SELECT 1 AS found FROM towpath.lane WHERE queue = :queue AND lane = :lane

-- name: recording_jobs_forget
DELETE FROM towpath.recording_job WHERE job_id IN :ids

-- name: recording_jobs_delete
DELETE FROM towpath.recording_job WHERE recording_id IN :ids

-- name: recording_speed
SELECT engine, audio_seconds, wall_seconds FROM towpath.recording_speed

-- name: recording_speed_learn
INSERT INTO towpath.recording_speed (engine, audio_seconds, wall_seconds) VALUES (:engine, :audio, :wall)
ON CONFLICT (engine) DO UPDATE
SET audio_seconds = towpath.recording_speed.audio_seconds * 0.7 + excluded.audio_seconds,
    wall_seconds = towpath.recording_speed.wall_seconds * 0.7 + excluded.wall_seconds
