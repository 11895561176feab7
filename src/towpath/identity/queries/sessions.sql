-- Here and in the other files: what was inserted already is the same statement, sent again after an unknown commit.
-- name: session_add
INSERT INTO towpath.session (id, hash, account_id, tenant, address, agent, created_at, seen_at, idle_until, expires_at)
VALUES (:id, :hash, :account_id, :tenant, :address, :agent, :now, :now, :idle_until, :expires_at)
ON CONFLICT DO NOTHING

-- name: session_by_hash
SELECT session.id, session.account_id, session.tenant, session.seen_at, session.expires_at, account.name, account.admin
FROM towpath.session AS session JOIN towpath.account AS account ON account.id = session.account_id
WHERE session.hash = :hash AND session.idle_until > :now AND session.expires_at > :now AND account.disabled_at IS NULL

-- name: sessions_of
SELECT id, tenant, address, agent, created_at, seen_at FROM towpath.session
WHERE account_id = :account_id AND idle_until > :now AND expires_at > :now ORDER BY seen_at DESC LIMIT 200

-- name: session_touch
UPDATE towpath.session SET seen_at = :now, idle_until = :idle_until WHERE id = :id

-- name: session_set_tenant
UPDATE towpath.session SET tenant = :tenant WHERE id = :id

-- name: session_delete
DELETE FROM towpath.session WHERE id = :id AND account_id = :account_id

-- name: session_delete_hash
DELETE FROM towpath.session WHERE hash = :hash

-- name: sessions_delete
DELETE FROM towpath.session WHERE account_id = :account_id AND id <> :but

-- name: sessions_forget
DELETE FROM towpath.session WHERE expires_at < :now OR idle_until < :now
