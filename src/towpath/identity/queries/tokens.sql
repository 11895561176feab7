-- name: token_add
INSERT INTO towpath.token (id, hash, prefix, name, account_id, tenant, scopes, created_at, expires_at)
VALUES (:id, :hash, :prefix, :name, :account_id, :tenant, :scopes, :now, :expires_at)

-- name: token_by_hash
SELECT token.id, token.account_id, token.tenant, token.scopes, token.last_used_at, account.name, account.admin
FROM towpath.token AS token JOIN towpath.account AS account ON account.id = token.account_id
WHERE token.hash = :hash AND (token.expires_at IS NULL OR token.expires_at > :now) AND account.disabled_at IS NULL

-- name: tokens_all
SELECT token.id, token.prefix, token.name, token.account_id, account.name AS account, token.tenant, token.scopes,
       token.created_at, token.expires_at, token.last_used_at
FROM towpath.token AS token JOIN towpath.account AS account ON account.id = token.account_id
WHERE token.id > :after ORDER BY token.id LIMIT :limit

-- name: tokens_of
SELECT token.id, token.prefix, token.name, token.account_id, account.name AS account, token.tenant, token.scopes,
       token.created_at, token.expires_at, token.last_used_at
FROM towpath.token AS token JOIN towpath.account AS account ON account.id = token.account_id
WHERE token.account_id = :account_id AND token.id > :after ORDER BY token.id LIMIT :limit

-- name: token_owner
SELECT account_id, name FROM towpath.token WHERE id = :id

-- name: token_used
UPDATE towpath.token SET last_used_at = :now WHERE id = :id

-- name: token_delete
DELETE FROM towpath.token WHERE id = :id

-- name: tokens_delete
DELETE FROM towpath.token WHERE account_id = :account_id
