-- What is before a recording. Every answer is bounded, whatever the backlog.

-- name: recording_line_roots
-- Recordings that nobody works on right now and somebody may begin, in the fair order.
SELECT job.id, job.lane, job.priority, job.pass, job.attempt, job.children_total, job.children_ok, job.children_partial,
       job.children_bad, recording.duration, recording.stated, recording.bytes,
       recording.media_type, recording.speakers
FROM (SELECT id, lane, priority, pass, attempt, children_total, children_ok, children_partial, children_bad FROM towpath.job
      WHERE queue = :queue AND queue IN ('transcription', 'summary') AND ready AND parent_id IS NULL
      ORDER BY priority, pass, id LIMIT :limit) AS job
LEFT JOIN towpath.recording_job AS link ON link.job_id = job.id
LEFT JOIN towpath.recording AS recording ON recording.id = link.recording_id

-- name: recording_line_parts
-- Parts of recordings under way that wait for a slot. Those of one recording stand in equal distances.
SELECT parent_id, count(*) AS parts, min(pass) AS first, max(pass) AS last, sum(cost) AS cost
FROM (SELECT parent_id, pass, cost FROM towpath.job
      WHERE queue = :queue AND ready ORDER BY priority, pass, id LIMIT :limit) AS ahead
WHERE parent_id IS NOT NULL GROUP BY parent_id

-- name: recording_line_held
SELECT id, parent_id, cost, attempt, children_total, started_at FROM towpath.job
WHERE leased AND state = 'running' AND id IN (SELECT job_id FROM towpath.held WHERE queue = :queue)

-- name: recording_line_begun
SELECT job.id, job.lane, job.priority, job.pass, job.attempt, job.children_total, job.children_ok, job.children_partial,
       job.children_bad, recording.duration, recording.stated, recording.bytes,
       recording.media_type, recording.speakers
FROM towpath.job AS job
LEFT JOIN towpath.recording_job AS link ON link.job_id = job.id
LEFT JOIN towpath.recording AS recording ON recording.id = link.recording_id
WHERE job.id IN :ids

-- name: recording_line_lanes
SELECT lane, weight, max_slots, max_roots FROM towpath.lane WHERE queue = :queue AND lane IN :lanes

-- name: recording_busy_elsewhere
-- Jobs of other queues that these workers are at.
SELECT count(*) AS jobs FROM towpath.job
WHERE leased AND queue <> :queue AND worker_id IN :workers AND id IN (SELECT job_id FROM towpath.held)

-- name: recording_own_speed
-- Of recordings under way: seconds of audio that were heard, and what that took.
SELECT part.parent_id, sum(part.progress_current) AS audio_seconds,
       sum((SELECT sum(duration_ms) FROM towpath.step WHERE job_id = part.id AND done)) / 1000.0 AS wall_seconds
FROM towpath.job AS part
WHERE part.parent_id IN :ids AND part.parent_id IS NOT NULL AND part.progress_current > 0 GROUP BY part.parent_id

-- name: recording_speed
SELECT engine, audio_seconds, wall_seconds FROM towpath.recording_speed

-- name: recording_speed_learn
INSERT INTO towpath.recording_speed (engine, audio_seconds, wall_seconds) VALUES (:engine, :audio, :wall)
ON CONFLICT (engine) DO UPDATE
SET audio_seconds = towpath.recording_speed.audio_seconds * :keep + excluded.audio_seconds,
    wall_seconds = towpath.recording_speed.wall_seconds * :keep + excluded.wall_seconds
