-- name: put_lease
INSERT INTO towpath.lease (id, worker_id, queue, jobs, until) VALUES (:id, :worker_id, :queue, :jobs, :until)

-- name: unlisted_leases
-- There should be none; whatever the reason, nobody would look after them. Reads all jobs.
SELECT id, queue, worker_id, lease_until FROM towpath.job
WHERE leased AND lease_until < :before AND id NOT IN (SELECT job_id FROM towpath.held) ORDER BY id LIMIT :limit

-- name: drop_leases
-- For whoever knows that every job on them has succeeded.
DELETE FROM towpath.lease WHERE id IN :ids
