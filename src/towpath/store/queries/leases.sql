-- Which jobs are leased. Until when, and to whom, is said by the job itself.

-- name: put_lease
INSERT INTO towpath.lease (job_id, queue) VALUES (:job_id, :queue)

-- name: drop_leases
DELETE FROM towpath.lease WHERE job_id IN :ids

-- name: states
SELECT id, state FROM towpath.job WHERE id IN :ids
