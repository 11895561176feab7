-- name: recording_line_parked
-- What waits behind the caps of these lanes, the first of each.
SELECT job.id, job.parent_id, job.lane, job.priority, job.attempt, job.cost, job.children_total, recording.duration,
       recording.stated, recording.bytes, recording.media_type, recording.speakers
FROM unnest(CAST(:lanes AS text[])) AS wanted (lane)
CROSS JOIN LATERAL (
    SELECT id, parent_id, lane, priority, attempt, cost, children_total FROM towpath.job
    WHERE queue = :queue AND lane = wanted.lane AND parked AND gate > 0 ORDER BY priority, id LIMIT :limit
) AS job
LEFT JOIN towpath.recording_job AS link ON link.job_id = job.id
LEFT JOIN towpath.recording AS recording ON recording.id = link.recording_id
