-- name: recording_template_add
-- Zero rows: there is one of this name.
INSERT INTO towpath.recording_template (id, tenant, key, name, prompt, created_by, changed_at)
VALUES (:id, :tenant, :key, :name, :prompt, :created_by, :now)
ON CONFLICT (tenant, key) DO NOTHING

-- name: recording_template_named
SELECT id FROM towpath.recording_template WHERE tenant = :tenant AND key = :key

-- name: recording_template_change
UPDATE towpath.recording_template SET key = :key, name = :name, prompt = :prompt, changed_at = :now
WHERE id = :id AND tenant = :tenant

-- name: recording_template_delete
DELETE FROM towpath.recording_template WHERE id = :id AND tenant = :tenant

-- name: recording_template_forget
-- What was to be summarised by it is summarised in the usual way from now on.
UPDATE towpath.recording SET template = NULL WHERE template = :id AND tenant = :tenant

-- name: recording_templates
SELECT id, name, prompt, changed_at FROM towpath.recording_template WHERE tenant = :tenant ORDER BY key

-- name: recording_template_by_id
SELECT id, name, prompt, changed_at FROM towpath.recording_template WHERE tenant = :tenant AND id = :id
