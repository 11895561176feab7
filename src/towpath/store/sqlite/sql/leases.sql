-- name: renew
UPDATE towpath.job SET lease_until = :until
WHERE id = :id AND attempt = :attempt AND state = 'running' AND worker_id = :worker_id AND leased

-- name: longest_lease
-- That a worker of the last day gives, in seconds.
SELECT max(alive_until - seen_at) AS seconds FROM towpath.worker
