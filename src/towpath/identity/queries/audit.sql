-- name: audit_add
INSERT INTO towpath.audit (id, ts, account_id, account, via, tenant, action, target, address, request_id, details)
VALUES (:id, :now, :account_id, :account, :via, :tenant, :action, :target, :address, :request_id, :details)
ON CONFLICT DO NOTHING

-- name: audit_page
SELECT id, ts, account_id, account, via, tenant, action, target, address, request_id, details FROM towpath.audit
WHERE id < :before ORDER BY id DESC LIMIT :limit

-- name: audit_page_of
SELECT id, ts, account_id, account, via, tenant, action, target, address, request_id, details FROM towpath.audit
WHERE account_id = :account_id AND id < :before ORDER BY id DESC LIMIT :limit
