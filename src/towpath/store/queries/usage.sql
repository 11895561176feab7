-- name: add_usage
INSERT INTO towpath.usage_tally (at, tenant, queue, operation, model, calls, tokens_in, tokens_out, cost_cents, priced_calls,
                                 unpriced_in, unpriced_out, unmeasured_calls)
VALUES (:at, :tenant, :queue, :operation, :model, :calls, :tokens_in, :tokens_out, :cost_cents, :priced_calls,
        :unpriced_in, :unpriced_out, :unmeasured_calls)

-- name: any_usage
SELECT 1 AS found FROM towpath.usage_tally LIMIT 1

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
