-- The jobs of recordings, which are the subjects of theirs.

-- name: recording_jobs_recent
SELECT job.id AS job_id, recording.id AS recording_id
FROM towpath.recording AS recording
JOIN towpath.job AS job ON job.subject_kind = 'recording' AND job.subject_id = recording.id
WHERE recording.tenant = :tenant AND recording.removed_at IS NULL
  AND (recording.created_by IS NULL OR recording.created_by = :account)
  AND job.parent_id IS NULL AND (job.finished_at IS NULL OR job.finished_at > :since)
ORDER BY job.id DESC LIMIT :limit

-- name: recording_jobs_completed
SELECT job.id AS job_id
FROM towpath.recording AS recording
JOIN towpath.job AS job ON job.subject_kind = 'recording' AND job.subject_id = recording.id
WHERE recording.tenant = :tenant AND (recording.created_by IS NULL OR recording.created_by = :account)
  AND job.parent_id IS NULL AND job.state IN ('succeeded', 'partial') AND NOT job.leased
ORDER BY job.id LIMIT :limit

-- name: recording_lane_known
SELECT 1 AS found FROM towpath.lane WHERE queue = :queue AND lane = :lane
