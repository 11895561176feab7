-- name: take_count_deltas
-- Durations are counted by bucket (core/histogram.py) here: tens of thousands a second would keep a worker's event loop busy.
WITH gone AS (
    DELETE FROM towpath.count_delta
    WHERE ctid = ANY (ARRAY (SELECT ctid FROM towpath.count_delta LIMIT 20000 FOR UPDATE SKIP LOCKED))
    RETURNING *, date_trunc('minute', at) AS minute
), spent AS (
    SELECT queue, operation, minute, what,
           CASE WHEN seconds <= 0.001 THEN 0
                ELSE greatest(0, ceil(least(160, ln(seconds::float8 * 1000) / ln(2::float8) * 4 - 1e-9))) END::int AS bucket,
           count(*) AS jobs
    FROM (SELECT queue, operation, minute, 'wait' AS what, unnest(waits) AS seconds FROM gone
          UNION ALL
          SELECT queue, operation, minute, 'run', unnest(runs) FROM gone) AS durations
    GROUP BY 1, 2, 3, 4, 5
), waited AS (
    SELECT queue, operation, minute, json_object_agg(bucket, jobs) AS waits FROM spent WHERE what = 'wait' GROUP BY 1, 2, 3
), ran AS (
    SELECT queue, operation, minute, json_object_agg(bucket, jobs) AS runs FROM spent WHERE what = 'run' GROUP BY 1, 2, 3
), counted AS (
    SELECT queue, operation, minute, {flows_summed}, {levels_summed} FROM gone GROUP BY 1, 2, 3
)
SELECT queue, operation, minute, {flows}, {levels}, waits, runs
FROM counted LEFT JOIN waited USING (queue, operation, minute) LEFT JOIN ran USING (queue, operation, minute)
ORDER BY queue, operation, minute

-- name: take_usage_deltas
DELETE FROM towpath.usage_delta
WHERE ctid = ANY (ARRAY (SELECT ctid FROM towpath.usage_delta LIMIT 20000 FOR UPDATE SKIP LOCKED))
RETURNING date_trunc('minute', at) AS minute, tenant, queue, operation, model, {usage}

-- The rows to be added, which come as JSON; moments that a table does not have are not in them. They are in the order of their
-- keys, so that of two processes that add at once one waits for the other, and never both.

-- fragment: rows_of_flows
(SELECT queue, operation, to_timestamp(minute) AS minute, {flows}
 FROM json_to_recordset(:rows::json) AS given (queue text, operation text, minute float8, {flows_typed})
 ORDER BY 1, 2, 3) AS added

-- fragment: rows_of_durations
(SELECT queue, operation, to_timestamp(minute) AS minute, to_timestamp(quarter) AS quarter, what, bucket, jobs
 FROM json_to_recordset(:rows::json)
      AS given (queue text, operation text, minute float8, quarter float8, what text, bucket int, jobs bigint)
 ORDER BY 1, 2, 3, 4, 5, 6) AS added

-- fragment: rows_of_usage
(SELECT tenant, to_timestamp(minute) AS minute, to_timestamp(quarter) AS quarter, queue, operation, model, {usage}
 FROM json_to_recordset(:rows::json)
      AS given (tenant text, minute float8, quarter float8, queue text, operation text, model text, {usage_typed})
 ORDER BY 1, 2, 3, 4, 5, 6) AS added
