-- name: dismissals_of
SELECT operation, kind, message, max(dismissed_at) AS dismissed_at FROM towpath.inbox_dismissal
WHERE tenant IN :tenants GROUP BY operation, kind, message

-- name: dismissal_put
INSERT INTO towpath.inbox_dismissal (tenant, operation, kind, message, dismissed_at)
VALUES (:tenant, :operation, :kind, :message, :now)
ON CONFLICT (tenant, operation, kind, message) DO UPDATE SET dismissed_at = excluded.dismissed_at

-- name: dismissal_drop
DELETE FROM towpath.inbox_dismissal WHERE tenant IN :tenants AND operation = :operation AND kind = :kind AND message = :message

-- name: dismissals_forget
-- Of groups that nobody has seen for long: their jobs were pruned, or came back.
DELETE FROM towpath.inbox_dismissal WHERE dismissed_at < :before
