-- name: renew
UPDATE towpath.job SET lease_until = :until
WHERE id = :id AND attempt = :attempt AND state = 'running' AND worker_id = :worker_id AND leased

-- name: longest_lease
-- In seconds, of all workers that are known: a beat makes a worker alive for as long as the leases it renews. Who was not heard of for a
-- day is forgotten.
SELECT max(alive_until - seen_at) AS seconds FROM towpath.worker
