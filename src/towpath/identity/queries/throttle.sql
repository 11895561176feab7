-- name: throttle_begin
INSERT INTO towpath.throttle (subject, failures, last_at) VALUES (:subject, 0, :now) ON CONFLICT DO NOTHING

-- name: throttle_lock
SELECT subject, failures, last_at, blocked_until FROM towpath.throttle WHERE subject IN :subjects ORDER BY subject FOR UPDATE

-- name: throttle_count
UPDATE towpath.throttle SET failures = :failures, last_at = :now, blocked_until = :blocked_until WHERE subject = :subject

-- name: throttle_clear
DELETE FROM towpath.throttle WHERE subject = :subject

-- name: throttle_forget
DELETE FROM towpath.throttle WHERE last_at < :before
