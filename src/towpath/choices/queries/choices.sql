-- name: model_services
SELECT name, kind, url, model, languages, secret, created_at, changed_at FROM towpath.model_service ORDER BY kind, name

-- name: model_service_lock
SELECT name, kind, url, model, languages, secret, created_at, changed_at FROM towpath.model_service
WHERE name = :name FOR UPDATE

-- name: model_service_add
INSERT INTO towpath.model_service (name, kind, url, model, languages, secret, created_at, changed_at)
VALUES (:name, :kind, :url, :model, :languages, :secret, :now, :now)
ON CONFLICT DO NOTHING

-- name: model_service_change
UPDATE towpath.model_service
SET url = :url, model = :model, languages = :languages, secret = :secret, changed_at = :now
WHERE name = :name

-- name: model_service_delete
DELETE FROM towpath.model_service WHERE name = :name

-- name: model_choices
SELECT kind, model FROM towpath.model_choice

-- name: model_choice_put
INSERT INTO towpath.model_choice (kind, model, chosen_at) VALUES (:kind, :model, :now)
ON CONFLICT (kind) DO UPDATE SET model = excluded.model, chosen_at = excluded.chosen_at

-- name: model_choice_drop
DELETE FROM towpath.model_choice WHERE kind = :kind
