-- name: add_usage_delta
INSERT INTO towpath.usage_delta (at, tenant, queue, operation, model, {usage})
VALUES (:at, :tenant, :queue, :operation, :model, {usage_parameters})

-- name: add_job_usage
INSERT INTO towpath.job_usage AS known (job_id, model, {usage}) VALUES (:job_id, :model, {usage_parameters})
ON CONFLICT (job_id, model) DO UPDATE SET {usage_added}

-- name: job_usage
SELECT model, {usage} FROM towpath.job_usage WHERE job_id = :job_id

-- name: any_usage_delta
SELECT 1 AS found FROM towpath.usage_delta LIMIT 1

-- name: forget_usage
DELETE FROM towpath.usage WHERE quarter < :before

-- name: forget_spend
DELETE FROM towpath.spend WHERE minute < :before

-- name: prices
SELECT model, input_per_million_cents, output_per_million_cents FROM towpath.price ORDER BY model

-- name: drop_prices
DELETE FROM towpath.price

-- name: put_price
INSERT INTO towpath.price (model, input_per_million_cents, output_per_million_cents, updated_at)
VALUES (:model, :input_per_million_cents, :output_per_million_cents, :now)
ON CONFLICT (model) DO UPDATE
SET input_per_million_cents = excluded.input_per_million_cents,
    output_per_million_cents = excluded.output_per_million_cents, updated_at = excluded.updated_at
