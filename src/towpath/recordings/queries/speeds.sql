-- How long recordings are, and how fast they were heard lately.

-- name: recording_lengths
SELECT id, duration, stated, bytes, media_type, speakers FROM towpath.recording WHERE id IN :ids

-- name: recording_speed
SELECT engine, audio_seconds, wall_seconds FROM towpath.recording_speed

-- name: recording_speed_learn
INSERT INTO towpath.recording_speed (engine, audio_seconds, wall_seconds) VALUES (:engine, :audio, :wall)
ON CONFLICT (engine) DO UPDATE
SET audio_seconds = towpath.recording_speed.audio_seconds * :keep + excluded.audio_seconds,
    wall_seconds = towpath.recording_speed.wall_seconds * :keep + excluded.wall_seconds
