-- name: link_add
INSERT INTO towpath.link (hash, account_id, purpose, created_at, expires_at)
VALUES (:hash, :account_id, :purpose, :now, :expires_at)
ON CONFLICT DO NOTHING

-- Whoever comes first has it. The same use sent again after an unknown commit is recognised by what it was for.
-- name: link_use
UPDATE towpath.link SET used_for = :used_for
WHERE hash = :hash AND purpose = :purpose AND expires_at > :now AND (used_for IS NULL OR used_for = :used_for)
RETURNING account_id

-- name: links_delete
DELETE FROM towpath.link WHERE account_id = :account_id

-- name: links_delete_unused
DELETE FROM towpath.link WHERE account_id = :account_id AND purpose = :purpose AND used_for IS NULL

-- name: links_forget
DELETE FROM towpath.link WHERE expires_at < :now

-- name: link_owner
SELECT account.name FROM towpath.link AS link JOIN towpath.account AS account ON account.id = link.account_id
WHERE link.hash = :hash AND link.purpose = :purpose AND link.expires_at > :now AND link.used_for IS NULL
