-- name: transcript_add
INSERT INTO towpath.recording_transcript (id, recording_id, engine, language, lines, took_seconds, cost_cents, created_at)
VALUES (:id, :recording_id, :engine, :language, :lines, :took_seconds, :cost_cents, :now)

-- name: transcript_by_id
SELECT id, recording_id, engine, language, lines, took_seconds, cost_cents, created_at
FROM towpath.recording_transcript WHERE id = :id

-- name: transcript_lines
SELECT number, begins, ends, speaker, heard, edited, edited_by, speaker_heard FROM towpath.recording_line
WHERE transcript_id = :id ORDER BY number

-- name: transcript_line
SELECT number, begins, ends, speaker, heard, edited, edited_by, speaker_heard FROM towpath.recording_line
WHERE transcript_id = :id AND number = :number

-- name: transcript_line_edit
UPDATE towpath.recording_line SET edited = :edited, speaker = :speaker, edited_by = :edited_by
WHERE transcript_id = :id AND number = :number

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
