-- name: recording_tag_add
INSERT INTO towpath.recording_tag (recording_id, key, tag) VALUES (:recording_id, :key, :tag)
ON CONFLICT (recording_id, key) DO UPDATE SET tag = excluded.tag

-- name: recording_tags_remove
DELETE FROM towpath.recording_tag WHERE recording_id = :recording_id AND key IN :keys

-- name: recording_tags_delete
DELETE FROM towpath.recording_tag WHERE recording_id IN :ids

-- name: recording_tags_of
SELECT recording_id, tag FROM towpath.recording_tag WHERE recording_id IN :ids ORDER BY recording_id, key

-- name: recording_tags_known
SELECT min(tag.tag) AS tag, count(*) AS recordings
FROM towpath.recording_tag AS tag
JOIN towpath.recording AS recording ON recording.id = tag.recording_id
WHERE recording.tenant = :tenant AND recording.removed_at IS NULL
GROUP BY tag.key ORDER BY count(*) DESC, tag.key LIMIT :limit

-- name: recordings_twins
-- Of each: how many others have the same content, and the oldest of them all.
SELECT one.id AS id, count(*) - 1 AS others, min(other.id) AS oldest
FROM towpath.recording AS one
JOIN towpath.asset AS file ON file.id = one.asset_id
JOIN towpath.asset AS same ON same.sha256 = file.sha256 AND same.tenant = file.tenant AND same.state = 'ready'
JOIN towpath.recording AS other ON other.asset_id = same.id AND other.removed_at IS NULL
WHERE one.id IN :ids AND file.state = 'ready' GROUP BY one.id HAVING count(*) > 1
