-- name: take_count_deltas
SELECT queue, operation, floor(at / 60) * 60 AS minute, {flows_summed}, {levels_summed},
       '[' || group_concat(trim(waits, '[]')) || ']' AS waits, '[' || group_concat(trim(runs, '[]')) || ']' AS runs
FROM towpath.count_delta GROUP BY 1, 2, 3 ORDER BY 1, 2, 3

-- name: clear_count_deltas
DELETE FROM towpath.count_delta

-- name: take_usage_deltas
DELETE FROM towpath.usage_delta
RETURNING floor(at / 60) * 60 AS minute, tenant, queue, operation, model, {usage}

-- The rows to be added, which come as JSON; moments that a table does not have are not in them.

-- fragment: rows_of_flows
(SELECT value ->> 'queue' AS queue, value ->> 'operation' AS operation, CAST(value ->> 'minute' AS REAL) AS minute,
        {flows_unpacked}
 FROM json_each(:rows)) AS added

-- fragment: rows_of_durations
(SELECT value ->> 'queue' AS queue, value ->> 'operation' AS operation, CAST(value ->> 'minute' AS REAL) AS minute,
        CAST(value ->> 'quarter' AS REAL) AS quarter, value ->> 'what' AS what, value ->> 'bucket' AS bucket,
        value ->> 'jobs' AS jobs
 FROM json_each(:rows)) AS added

-- fragment: rows_of_usage
(SELECT value ->> 'tenant' AS tenant, CAST(value ->> 'minute' AS REAL) AS minute,
        CAST(value ->> 'quarter' AS REAL) AS quarter, value ->> 'queue' AS queue, value ->> 'operation' AS operation,
        value ->> 'model' AS model, {usage_unpacked}
 FROM json_each(:rows)) AS added
