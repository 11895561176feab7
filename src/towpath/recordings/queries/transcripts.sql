-- name: transcript_add
INSERT INTO towpath.recording_transcript (id, recording_id, engine, language, lines, took_seconds, cost_cents, remark,
                                          created_at)
VALUES (:id, :recording_id, :engine, :language, :lines, :took_seconds, :cost_cents, :remark, :now)

-- name: transcript_by_id
SELECT id, recording_id, engine, language, lines, took_seconds, cost_cents, remark, created_at
FROM towpath.recording_transcript WHERE id = :id

-- name: transcript_growing
-- What was heard so far of a recording that has no transcript yet.
SELECT id, recording_id, engine, language, lines, took_seconds, cost_cents, remark, created_at
FROM towpath.recording_transcript WHERE recording_id = :recording_id ORDER BY id DESC LIMIT 1

-- name: transcript_begin
-- Its lines come while it is heard; how many there are is said at the end.
INSERT INTO towpath.recording_transcript (id, recording_id, engine, language, lines, created_at)
SELECT :id, id, :engine, :language, 0, :now FROM towpath.recording
WHERE id = :recording_id AND transcript_id IS NULL AND removed_at IS NULL
ON CONFLICT (id) DO NOTHING

-- name: transcript_is_growing
SELECT transcript.id FROM towpath.recording_transcript AS transcript
JOIN towpath.recording AS recording ON recording.id = transcript.recording_id
WHERE transcript.id = :id AND recording.transcript_id IS NULL AND recording.removed_at IS NULL

-- name: growing_lines_forget
-- Of a window that is heard once more. What somebody has corrected meanwhile stays.
DELETE FROM towpath.recording_line
WHERE transcript_id = :id AND begins >= :start AND begins < :end AND edited_by IS NULL

-- name: transcript_lines
SELECT line.number, line.begins, line.ends, line.speaker, line.heard, line.edited, line.edited_by, line.speaker_heard, speaker.name
FROM towpath.recording_line AS line
JOIN towpath.recording_transcript AS transcript ON transcript.id = line.transcript_id
LEFT JOIN towpath.recording_speaker AS speaker
    ON speaker.recording_id = transcript.recording_id AND speaker.number = line.speaker
WHERE line.transcript_id = :id ORDER BY line.number

-- name: transcript_line
SELECT line.number, line.begins, line.ends, line.speaker, line.heard, line.edited, line.edited_by, line.speaker_heard, speaker.name
FROM towpath.recording_line AS line
JOIN towpath.recording_transcript AS transcript ON transcript.id = line.transcript_id
LEFT JOIN towpath.recording_speaker AS speaker
    ON speaker.recording_id = transcript.recording_id AND speaker.number = line.speaker
WHERE line.transcript_id = :id AND line.number = :number

-- name: corrected_lines
-- In whatever transcript of the recording, that which is still being heard included.
SELECT line.number, line.begins, line.ends, line.speaker, line.heard, line.edited, line.edited_by, line.speaker_heard, speaker.name
FROM towpath.recording_line AS line
JOIN towpath.recording_transcript AS transcript ON transcript.id = line.transcript_id
LEFT JOIN towpath.recording_speaker AS speaker
    ON speaker.recording_id = transcript.recording_id AND speaker.number = line.speaker
WHERE transcript.recording_id = :id AND line.edited_by IS NOT NULL ORDER BY line.begins, line.transcript_id

-- name: line_places
SELECT line.number, line.place
FROM towpath.recording_line AS line
WHERE line.transcript_id = :id AND line.speaker = :speaker ORDER BY line.number

-- name: transcript_line_edit
UPDATE towpath.recording_line SET edited = :edited, speaker = :speaker, edited_by = :edited_by
WHERE transcript_id = :id AND number = :number

-- name: lines_of_speaker_move
UPDATE towpath.recording_line SET speaker = :into WHERE transcript_id = :id AND speaker = :speaker

-- name: lines_move
UPDATE towpath.recording_line SET speaker = :into WHERE transcript_id = :id AND number IN :numbers

-- name: speakers_said
SELECT number, name FROM towpath.recording_speaker WHERE recording_id = :recording_id ORDER BY number

-- name: speaker_say
INSERT INTO towpath.recording_speaker (recording_id, number, name, said_by) VALUES (:recording_id, :number, :name, :by)
ON CONFLICT (recording_id, number) DO UPDATE SET name = excluded.name, said_by = excluded.said_by

-- name: speaker_touch
INSERT INTO towpath.recording_speaker (recording_id, number, said_by) VALUES (:recording_id, :number, :by)
ON CONFLICT (recording_id, number) DO NOTHING

-- name: speaker_forget
DELETE FROM towpath.recording_speaker WHERE recording_id = :recording_id AND number = :number

-- name: speakers_delete
DELETE FROM towpath.recording_speaker WHERE recording_id IN :ids

-- name: unplaced_edits
SELECT id, begins, ends, heard, edited, speaker, edited_by FROM towpath.recording_unplaced
WHERE recording_id = :recording_id ORDER BY begins, id

-- name: unplaced_edit_add
INSERT INTO towpath.recording_unplaced (id, recording_id, begins, ends, heard, edited, speaker, edited_by)
VALUES (:id, :recording_id, :begins, :ends, :heard, :edited, :speaker, :edited_by)

-- name: unplaced_edit_delete
DELETE FROM towpath.recording_unplaced WHERE recording_id = :recording_id AND id = :id

-- name: unplaced_edits_delete
DELETE FROM towpath.recording_unplaced WHERE recording_id IN :ids

-- name: transcript_lines_delete
DELETE FROM towpath.recording_line
WHERE transcript_id IN (SELECT id FROM towpath.recording_transcript WHERE recording_id IN :ids)

-- name: transcripts_delete
DELETE FROM towpath.recording_transcript WHERE recording_id IN :ids

-- name: summary_add
INSERT INTO towpath.recording_summary (id, recording_id, transcript_id, text, method, template, model, tokens_in,
                                       tokens_out, cost_cents, took_seconds, created_at)
VALUES (:id, :recording_id, :transcript_id, :text, :method, :template, :model, :tokens_in, :tokens_out, :cost_cents,
        :took_seconds, :now)

-- name: summary_by_id
SELECT id, recording_id, transcript_id, text, method, template, model, tokens_in, tokens_out, cost_cents, took_seconds, created_at
FROM towpath.recording_summary WHERE id = :id

-- name: summaries_delete
DELETE FROM towpath.recording_summary WHERE recording_id IN :ids

-- name: share_add
INSERT INTO towpath.recording_share (id, recording_id, digest, with_audio, created_by, created_at, expires_at)
VALUES (:id, :recording_id, :digest, :with_audio, :created_by, :now, :expires_at)

-- name: shares_of
SELECT id, recording_id, with_audio, created_at, expires_at FROM towpath.recording_share
WHERE recording_id = :recording_id AND expires_at > :now ORDER BY id

-- name: share_by_digest
SELECT share.recording_id, share.with_audio, share.expires_at FROM towpath.recording_share AS share
JOIN towpath.recording AS recording ON recording.id = share.recording_id
WHERE share.digest = :digest AND share.expires_at > :now AND recording.removed_at IS NULL

-- name: share_delete
DELETE FROM towpath.recording_share WHERE id = :id AND recording_id = :recording_id

-- name: shares_delete
DELETE FROM towpath.recording_share WHERE recording_id IN :ids
