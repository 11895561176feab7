-- name: add_usage_delta
INSERT INTO towpath.usage_delta (at, tenant, queue, operation, model, calls, tokens_in, tokens_out, cost_cents, priced_calls,
                                 unpriced_in, unpriced_out, unmeasured_calls)
VALUES (:at, :tenant, :queue, :operation, :model, :calls, :tokens_in, :tokens_out, :cost_cents, :priced_calls,
        :unpriced_in, :unpriced_out, :unmeasured_calls)

-- name: add_job_usage
INSERT INTO towpath.job_usage AS known (job_id, model, calls, tokens_in, tokens_out, cost_cents, priced_calls, unpriced_in,
                                        unpriced_out, unmeasured_calls)
VALUES (:job_id, :model, :calls, :tokens_in, :tokens_out, :cost_cents, :priced_calls, :unpriced_in, :unpriced_out,
        :unmeasured_calls)
ON CONFLICT (job_id, model) DO UPDATE
SET calls = known.calls + excluded.calls, tokens_in = known.tokens_in + excluded.tokens_in,
    tokens_out = known.tokens_out + excluded.tokens_out, cost_cents = known.cost_cents + excluded.cost_cents,
    priced_calls = known.priced_calls + excluded.priced_calls, unpriced_in = known.unpriced_in + excluded.unpriced_in,
    unpriced_out = known.unpriced_out + excluded.unpriced_out,
    unmeasured_calls = known.unmeasured_calls + excluded.unmeasured_calls

-- name: job_usage
SELECT model, calls, tokens_in, tokens_out, cost_cents, priced_calls, unpriced_in, unpriced_out, unmeasured_calls
FROM towpath.job_usage WHERE job_id = :job_id

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
