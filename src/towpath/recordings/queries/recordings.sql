-- name: recording_add
-- Zero rows: there is one of this file.
INSERT INTO towpath.recording (id, tenant, lane, title, file_name, asset_id, media_type, bytes, language, speakers,
                               auto_summary, model, template, created_by, creator, created_at, stated)
VALUES (:id, :tenant, :lane, :title, :file_name, :asset_id, :media_type, :bytes, :language, :speakers,
        :auto_summary, :model, :template, :created_by, :creator, :now, :stated)
ON CONFLICT (asset_id) WHERE removed_at IS NULL DO NOTHING

-- name: recordings_by_id
SELECT id, tenant, lane, title, file_name, asset_id, media_type, bytes, language, speakers, auto_summary, model, template, duration,
       transcript_id, summary_id, created_by, creator, created_at, last_job, last_kind, last_state, last_error,
       (SELECT lines FROM towpath.recording_transcript WHERE id = transcript_id) AS lines,
       (SELECT remark FROM towpath.recording_transcript WHERE id = transcript_id) AS remark
FROM towpath.recording WHERE id IN :ids AND removed_at IS NULL

-- name: recording_lock
SELECT id, tenant, lane, title, file_name, asset_id, media_type, bytes, language, speakers, auto_summary, model, template, duration,
       transcript_id, summary_id, created_by, creator, created_at, last_job, last_kind, last_state, last_error,
       (SELECT lines FROM towpath.recording_transcript WHERE id = transcript_id) AS lines,
       (SELECT remark FROM towpath.recording_transcript WHERE id = transcript_id) AS remark
FROM towpath.recording WHERE id = :id AND removed_at IS NULL FOR UPDATE

-- name: recording_by_asset
SELECT id FROM towpath.recording WHERE asset_id = :asset_id AND removed_at IS NULL

-- name: recordings_alike
-- The newest of what was sent with this content and these wishes.
SELECT id, tenant, lane, title, file_name, asset_id, media_type, bytes, language, speakers, auto_summary, model, template, duration,
       transcript_id, summary_id, created_by, creator, created_at, last_job, last_kind, last_state, last_error,
       (SELECT lines FROM towpath.recording_transcript WHERE id = transcript_id) AS lines,
       (SELECT remark FROM towpath.recording_transcript WHERE id = transcript_id) AS remark
FROM towpath.recording
WHERE removed_at IS NULL AND tenant = :tenant AND speakers = :speakers
  AND language IS NOT DISTINCT FROM CAST(:language AS text) AND model IS NOT DISTINCT FROM CAST(:model AS text)
  AND (auto_summary OR NOT CAST(:summary AS boolean))
  AND asset_id IN (SELECT id FROM towpath.asset
                   WHERE sha256 = :sha256 AND tenant = :tenant AND state = 'ready' AND removed_at IS NULL)
ORDER BY id DESC LIMIT 1

-- name: recordings_page
SELECT id, tenant, lane, title, file_name, asset_id, media_type, bytes, language, speakers, auto_summary, model, template, duration,
       transcript_id, summary_id, created_by, creator, created_at, last_job, last_kind, last_state, last_error,
       (SELECT lines FROM towpath.recording_transcript WHERE id = transcript_id) AS lines,
       (SELECT remark FROM towpath.recording_transcript WHERE id = transcript_id) AS remark
FROM towpath.recording AS recording
WHERE removed_at IS NULL AND id < :before AND tenant = :tenant
  AND (CAST(:text AS text) IS NULL OR lower(title) LIKE CAST(:text AS text) ESCAPE '\')
  AND (SELECT count(*) FROM towpath.recording_tag WHERE recording_id = recording.id AND key IN :tags) = :tagged
ORDER BY id DESC LIMIT :limit

-- name: recordings_page_of_all
SELECT id, tenant, lane, title, file_name, asset_id, media_type, bytes, language, speakers, auto_summary, model, template, duration,
       transcript_id, summary_id, created_by, creator, created_at, last_job, last_kind, last_state, last_error,
       (SELECT lines FROM towpath.recording_transcript WHERE id = transcript_id) AS lines,
       (SELECT remark FROM towpath.recording_transcript WHERE id = transcript_id) AS remark
FROM towpath.recording AS recording
WHERE removed_at IS NULL AND id < :before
  AND (CAST(:text AS text) IS NULL OR lower(title) LIKE CAST(:text AS text) ESCAPE '\')
  AND (SELECT count(*) FROM towpath.recording_tag WHERE recording_id = recording.id AND key IN :tags) = :tagged
ORDER BY id DESC LIMIT :limit

-- name: recording_rename
UPDATE towpath.recording SET title = :title WHERE id = :id AND removed_at IS NULL

-- name: recording_measured
UPDATE towpath.recording SET duration = :duration, peaks = :peaks WHERE id = :id

-- name: recording_has_peaks
UPDATE towpath.recording SET peaks = :peaks WHERE id = :id

-- name: recording_peaks
SELECT peaks FROM towpath.recording WHERE id = :id

-- name: recording_settings
UPDATE towpath.recording
SET language = :language, speakers = :speakers, auto_summary = :auto_summary, model = :model, template = :template
WHERE id = :id

-- name: recording_has_transcript
UPDATE towpath.recording SET transcript_id = :transcript_id, duration = :duration, indexed = false WHERE id = :id AND removed_at IS NULL

-- name: recording_has_summary
UPDATE towpath.recording SET summary_id = :summary_id WHERE id = :id AND removed_at IS NULL

-- name: recording_not_indexed
UPDATE towpath.recording SET indexed = false WHERE id = :id

-- name: recording_is_indexed
UPDATE towpath.recording SET indexed = true WHERE id = :id

-- name: recording_to_index
SELECT id FROM towpath.recording WHERE id = :id AND NOT indexed AND transcript_id IS NOT NULL AND removed_at IS NULL

-- name: recordings_not_indexed
SELECT id FROM towpath.recording
WHERE NOT indexed AND transcript_id IS NOT NULL AND removed_at IS NULL AND id > :after ORDER BY id LIMIT :limit

-- name: recordings_remove
UPDATE towpath.recording SET removed_at = coalesce(removed_at, :now) WHERE id IN :ids

-- name: recordings_older
SELECT id FROM towpath.recording WHERE removed_at IS NULL AND id < :before ORDER BY id LIMIT :limit

-- name: recordings_failed_uploads
SELECT recording.id
FROM towpath.job AS job
JOIN towpath.recording AS recording ON recording.id = job.subject_id
WHERE job.rare_state = 'failed' AND job.subject_kind = 'recording' AND job.operation = 'transcribe' AND NOT job.leased
  AND job.parent_id IS NULL AND recording.transcript_id IS NULL AND recording.removed_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM towpath.job AS later
                  WHERE later.subject_kind = 'recording' AND later.subject_id = recording.id AND later.parent_id IS NULL
                    AND later.id > job.id)
ORDER BY job.id LIMIT :limit

-- name: recording_ending_forget
UPDATE towpath.recording SET last_job = NULL, last_kind = NULL, last_state = NULL, last_error = NULL
WHERE id = :id AND last_job = :job_id

-- name: recordings_delete
DELETE FROM towpath.recording WHERE id IN :ids
