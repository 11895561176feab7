-- name: put_spend_limit
INSERT INTO towpath.spend_limit (scope, name, cents, period, updated_at) VALUES (:scope, :name, :cents, :period, :now)
ON CONFLICT (scope, name) DO UPDATE SET cents = excluded.cents, period = excluded.period, updated_at = excluded.updated_at

-- name: drop_spend_limit
DELETE FROM towpath.spend_limit WHERE scope = :scope AND name = :name

-- name: spend_limit
SELECT cents, period FROM towpath.spend_limit WHERE scope = :scope AND name = :name

-- name: spend_limits
SELECT spend_limit.scope, spend_limit.name, spend_limit.cents, spend_limit.period, spend_limit.updated_at,
       coalesce(account.cents, 0) AS spent
FROM towpath.spend_limit AS spend_limit
LEFT JOIN towpath.spend_account AS account
  ON account.scope = spend_limit.scope AND account.name = spend_limit.name
 AND account.period = CASE WHEN spend_limit.period = 'month' THEN CAST(:month AS text) ELSE 'ever' END
WHERE spend_limit.scope = 'tenant' AND spend_limit.name > :after ORDER BY spend_limit.name LIMIT :limit

-- Added to under its lock, so that two that would each fit do not both go through.
-- name: add_to_account
INSERT INTO towpath.spend_account AS account (scope, name, period, cents) VALUES (:scope, :name, :period, :cents)
ON CONFLICT (scope, name, period) DO UPDATE SET cents = account.cents + excluded.cents
RETURNING cents

-- name: spend_account
SELECT cents FROM towpath.spend_account WHERE scope = :scope AND name = :name AND period = :period

-- name: expense
SELECT job_id, name, tenant, run, month, cents, settled FROM towpath.expense WHERE job_id = :job_id AND name = :name

-- name: put_expense
INSERT INTO towpath.expense AS known (job_id, name, tenant, run, month, cents, settled, created_at)
VALUES (:job_id, :name, :tenant, :run, :month, :cents, :settled, :now)
ON CONFLICT (job_id, name) DO UPDATE SET cents = excluded.cents, settled = excluded.settled, month = excluded.month

-- Work that failed or was cancelled before anything of it was ordered or metered has cost nothing.
-- name: idle_expenses
SELECT job_id, name, tenant, run, month, cents, settled FROM towpath.expense AS expense
WHERE job_id IN :job_ids AND NOT settled
  AND NOT EXISTS (SELECT 1 FROM towpath.provider_job AS ordered
                  WHERE ordered.job_id = expense.job_id AND ordered.external_id IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM towpath.job_usage AS used WHERE used.job_id = expense.job_id)
ORDER BY job_id, name

-- name: delete_expenses
DELETE FROM towpath.expense WHERE job_id IN :ids

-- name: add_spend_waiter
INSERT INTO towpath.spend_waiter (job_id, tenant) VALUES (:job_id, :tenant) ON CONFLICT DO NOTHING

-- name: drop_spend_waiters
DELETE FROM towpath.spend_waiter WHERE job_id IN :ids

-- name: spend_waiters
SELECT job_id FROM towpath.spend_waiter WHERE tenant = :tenant ORDER BY job_id
