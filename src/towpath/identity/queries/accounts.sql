-- name: account_add
INSERT INTO towpath.account (id, name, name_key, admin, password, created_at)
VALUES (:id, :name, :name_key, :admin, :password, :now)

-- name: account_by_id
SELECT id, name, admin, password, created_at, last_seen_at, disabled_at FROM towpath.account WHERE id = :id

-- name: account_by_name
SELECT id, name, admin, password, created_at, last_seen_at, disabled_at FROM towpath.account WHERE name_key = :name_key

-- name: account_lock
SELECT id, name, admin, password, created_at, last_seen_at, disabled_at FROM towpath.account WHERE id = :id FOR UPDATE

-- name: accounts_page
SELECT id, name, admin, password, created_at, last_seen_at, disabled_at FROM towpath.account
WHERE id > :after ORDER BY id LIMIT :limit

-- name: account_with_password
SELECT 1 AS found FROM towpath.account WHERE password IS NOT NULL AND disabled_at IS NULL LIMIT 1

-- Locked in the order of their ids, so that two who demote each other cannot both believe the other one stays.
-- The account of local mode does not count: a server that others can reach does not let it in.
-- name: admins_lock
SELECT id FROM towpath.account WHERE admin AND disabled_at IS NULL AND name_key <> 'local' ORDER BY id FOR UPDATE

-- name: account_set_admin
UPDATE towpath.account SET admin = :admin WHERE id = :id

-- name: account_set_password
UPDATE towpath.account SET password = :password WHERE id = :id

-- name: account_disable
UPDATE towpath.account SET disabled_at = :now WHERE id = :id AND disabled_at IS NULL

-- name: account_enable
UPDATE towpath.account SET disabled_at = NULL WHERE id = :id

-- name: account_seen
UPDATE towpath.account SET last_seen_at = :now WHERE id = :id

-- name: account_delete
DELETE FROM towpath.account WHERE id = :id

-- name: memberships
SELECT account_id, tenant FROM towpath.membership WHERE account_id IN :ids ORDER BY tenant

-- name: membership_add
INSERT INTO towpath.membership (account_id, tenant) VALUES (:account_id, :tenant) ON CONFLICT DO NOTHING

-- name: memberships_delete
DELETE FROM towpath.membership WHERE account_id = :account_id
