-- name: longest_lease
-- That a worker of the last day gives, in seconds.
SELECT max(alive_until - seen_at) AS seconds FROM towpath.worker
