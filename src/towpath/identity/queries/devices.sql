-- name: device_known
SELECT 1 AS known FROM towpath.device AS device JOIN towpath.account AS account ON account.id = device.account_id
WHERE device.hash = :hash AND account.name_key = :name_key

-- name: device_rename
UPDATE towpath.device SET hash = :hash WHERE hash = :was

-- name: device_add
INSERT INTO towpath.device (hash, account_id, seen_at) VALUES (:hash, :account_id, :now)
ON CONFLICT (hash, account_id) DO UPDATE SET seen_at = excluded.seen_at

-- name: devices_delete
DELETE FROM towpath.device WHERE account_id = :account_id

-- name: devices_forget
DELETE FROM towpath.device WHERE seen_at < :before
