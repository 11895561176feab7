-- name: webhook_add
INSERT INTO towpath.webhook (id, tenant, url, secret, states, operations, active, active_since, created_at)
VALUES (:id, :tenant, :url, :secret, :states, :operations, :active, :now, :now)
ON CONFLICT DO NOTHING

-- name: webhook_by_id
SELECT id, tenant, url, secret, states, operations, active, active_since, failing_since, created_at,
       paused_reason
FROM towpath.webhook WHERE id = :id

-- name: webhook_lock
SELECT id, tenant, url, secret, states, operations, active, active_since, failing_since, created_at,
       paused_reason
FROM towpath.webhook WHERE id = :id FOR UPDATE

-- name: webhooks_page
SELECT id, tenant, url, secret, states, operations, active, active_since, failing_since, created_at,
       paused_reason
FROM towpath.webhook
WHERE id > :after AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
ORDER BY id LIMIT :limit

-- name: webhooks_active
SELECT id, tenant, url, secret, states, operations, active, active_since, failing_since, created_at,
       paused_reason
FROM towpath.webhook WHERE active AND tenant IN :tenants

-- name: webhook_any_active
SELECT 1 AS found FROM towpath.webhook WHERE active LIMIT 1

-- name: webhook_count
SELECT count(*) AS webhooks FROM towpath.webhook WHERE tenant = :tenant

-- name: webhook_change
UPDATE towpath.webhook
SET url = :url, states = :states, operations = :operations, active = :active, active_since = :active_since,
    failing_since = :failing_since, paused_reason = :paused_reason
WHERE id = :id

-- name: webhook_answered_well
UPDATE towpath.webhook SET failing_since = NULL WHERE id = :id AND failing_since IS NOT NULL

-- name: webhook_failing
UPDATE towpath.webhook SET failing_since = :now WHERE id = :id AND failing_since IS NULL

-- name: webhook_pause
UPDATE towpath.webhook SET active = :active, failing_since = coalesce(failing_since, :now), paused_reason = :reason
WHERE id = :id

-- name: webhook_delete
DELETE FROM towpath.webhook WHERE id = :id

-- name: webhook_deliveries_delete
DELETE FROM towpath.webhook_delivery WHERE webhook_id = :webhook_id

-- name: webhook_cursor
SELECT token FROM towpath.webhook_cursor WHERE name = 'endings'

-- name: webhook_cursor_lock
SELECT token FROM towpath.webhook_cursor WHERE name = 'endings' FOR UPDATE

-- name: webhook_cursor_try
SELECT token FROM towpath.webhook_cursor WHERE name = 'endings' FOR UPDATE SKIP LOCKED

-- name: webhook_cursor_move
UPDATE towpath.webhook_cursor SET token = :token WHERE name = 'endings'

-- name: webhook_delivery_add
INSERT INTO towpath.webhook_delivery (webhook_id, id, job_id, event, created_at)
VALUES (:webhook_id, :id, :job_id, :event, :now)

-- name: webhook_delivery_status
UPDATE towpath.webhook_delivery SET response_status = :status, attempts = attempts + 1
WHERE webhook_id = :webhook_id AND id = :id

-- name: webhook_deliveries
SELECT d.id, d.webhook_id, d.job_id, d.event, d.response_status, d.attempts, d.created_at, job.state, job.error,
       job.finished_at
FROM towpath.webhook_delivery AS d JOIN towpath.job AS job ON job.id = d.id
WHERE d.webhook_id = :webhook_id AND d.id < :before
ORDER BY d.id DESC LIMIT :limit

-- name: webhook_delivery
SELECT d.id, d.webhook_id, d.job_id, d.event, d.response_status, d.attempts, d.created_at, job.state, job.error,
       job.finished_at
FROM towpath.webhook_delivery AS d JOIN towpath.job AS job ON job.id = d.id
WHERE d.webhook_id = :webhook_id AND d.id = :id

-- name: webhook_deliveries_live
SELECT d.id
FROM towpath.webhook_delivery AS d JOIN towpath.job AS job ON job.id = d.id
WHERE d.webhook_id = :webhook_id AND job.state IN ('queued', 'running', 'waiting')
ORDER BY d.id LIMIT :limit

-- name: webhook_deliveries_forget
-- Of deliveries whose job was pruned; a bounded number at a time.
DELETE FROM towpath.webhook_delivery
WHERE (webhook_id, id) IN (
    SELECT d.webhook_id, d.id FROM towpath.webhook_delivery AS d
    WHERE d.created_at < :before AND NOT EXISTS (SELECT 1 FROM towpath.job AS job WHERE job.id = d.id)
    ORDER BY d.created_at LIMIT :limit)
