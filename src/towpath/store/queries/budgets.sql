-- name: block_budget
INSERT INTO towpath.budget AS budget (name, blocked_until, reason) VALUES (:name, :until, :reason)
ON CONFLICT (name) DO UPDATE
SET blocked_until = CASE WHEN budget.blocked_until > excluded.blocked_until
                         THEN budget.blocked_until ELSE excluded.blocked_until END,
    reason = excluded.reason

-- name: blocked_budgets
SELECT name, blocked_until, reason FROM towpath.budget WHERE blocked_until > :now ORDER BY name

-- name: budget
SELECT blocked_until FROM towpath.budget WHERE name = :name

-- name: open_budget
UPDATE towpath.budget SET blocked_until = :now WHERE name = :name AND blocked_until > :now
