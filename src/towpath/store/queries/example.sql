-- What the jobs of the example have left in the statistics. They go when no job of these queues is left.

-- name: forget_count_delta_of
DELETE FROM towpath.count_delta WHERE queue IN :queues

-- name: forget_rollup_of
DELETE FROM towpath.rollup WHERE queue IN :queues

-- name: forget_depth_of
DELETE FROM towpath.depth WHERE queue IN :queues

-- name: forget_histogram_of
DELETE FROM towpath.histogram WHERE queue IN :queues

-- name: forget_histogram_minute_of
DELETE FROM towpath.histogram_minute WHERE queue IN :queues

-- name: forget_usage_delta_of
DELETE FROM towpath.usage_delta WHERE queue IN :queues

-- name: forget_usage_of
DELETE FROM towpath.usage WHERE queue IN :queues

-- name: forget_spend_of
DELETE FROM towpath.spend WHERE queue IN :queues
