-- name: recording_line_parked
-- What waits behind the caps of these lanes, the first of each.
SELECT job.id, job.parent_id, job.lane, job.priority, job.attempt, job.cost, job.children_total, recording.duration,
       recording.stated, recording.bytes, recording.media_type, recording.speakers
FROM json_each(:lanes) AS wanted
CROSS JOIN towpath.job AS job ON job.id IN (
    SELECT id FROM towpath.job AS one
    WHERE one.queue = :queue AND one.lane = wanted.value AND one.parked AND one.gate > 0
    ORDER BY one.priority, one.id LIMIT :limit)
LEFT JOIN towpath.recording_job AS link ON link.job_id = job.id
LEFT JOIN towpath.recording AS recording ON recording.id = link.recording_id
