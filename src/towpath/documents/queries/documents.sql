-- name: document_put
-- The document of a source stays the same one, whoever reads it.
INSERT INTO towpath.document (id, tenant, source, name, title, kind, media_type, language, unit, method, pages, characters,
                              passages, embedded, bytes, sha256, asset_id, own_asset, address, item_id, run_id, settings,
                              warnings, made, fingerprint, content, as_of, created_at, updated_at)
VALUES (:id, :tenant, :source, :name, :title, :kind, :media_type, :language, :unit, :method, :pages, :characters, :passages,
        :embedded, :bytes, :sha256, :asset_id, :own_asset, :address, :item_id, :run_id, :settings, :warnings, :made,
        :fingerprint, :content, :as_of, :now, :now)
ON CONFLICT (tenant, source) DO UPDATE
SET name = excluded.name, title = excluded.title, kind = excluded.kind, media_type = excluded.media_type,
    language = excluded.language, unit = excluded.unit, method = excluded.method, pages = excluded.pages,
    characters = excluded.characters, passages = excluded.passages, embedded = excluded.embedded, bytes = excluded.bytes,
    sha256 = excluded.sha256, asset_id = excluded.asset_id, own_asset = excluded.own_asset, address = excluded.address,
    item_id = excluded.item_id, run_id = excluded.run_id, settings = excluded.settings, warnings = excluded.warnings,
    made = excluded.made, fingerprint = excluded.fingerprint, content = excluded.content, as_of = excluded.as_of,
    updated_at = excluded.updated_at
RETURNING id

-- name: document_of_source
SELECT id, tenant, source, name, title, kind, media_type, language, unit, method, pages, characters, passages, embedded, bytes,
       sha256, asset_id, own_asset, address, item_id, run_id, settings, warnings, made, fingerprint, indexed, content, as_of,
       created_at, updated_at
FROM towpath.document WHERE tenant = :tenant AND source = :source FOR UPDATE

-- name: documents_by_id
SELECT id, tenant, source, name, title, kind, media_type, language, unit, method, pages, characters, passages, embedded, bytes,
       sha256, asset_id, own_asset, address, item_id, run_id, settings, warnings, made, fingerprint, indexed, content, as_of,
       created_at, updated_at
FROM towpath.document WHERE id IN :ids

-- name: document_standing
SELECT item_id, fingerprint, indexed FROM towpath.document WHERE id = :id

-- name: document_lock
SELECT item_id, fingerprint, indexed FROM towpath.document WHERE id = :id FOR UPDATE

-- name: documents_page
SELECT id, tenant, source, name, title, kind, media_type, language, unit, method, pages, characters, passages, embedded, bytes,
       sha256, asset_id, own_asset, address, item_id, run_id, settings, warnings, made, fingerprint, indexed, content, as_of,
       created_at, updated_at
FROM towpath.document
WHERE id < :before AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
  AND (CAST(:text AS text) IS NULL OR lower(title) LIKE CAST(:text AS text) ESCAPE '\'
       OR lower(source) LIKE CAST(:text AS text) ESCAPE '\')
ORDER BY id DESC LIMIT :limit

-- name: document_indexed
UPDATE towpath.document SET indexed = :indexed WHERE id = :id

-- name: document_runs_of
-- The runs that have read a document, the newest first.
SELECT DISTINCT run_id FROM towpath.document_item WHERE document_id = :id ORDER BY run_id DESC LIMIT 20

-- name: documents_delete
DELETE FROM towpath.document WHERE id IN :ids

-- name: document_asset_users
SELECT id FROM towpath.document WHERE asset_id = :asset_id LIMIT 1

-- name: documents_known
SELECT id FROM towpath.document WHERE id IN :ids
