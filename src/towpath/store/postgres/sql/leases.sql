-- name: forget_leases
-- Those whose jobs the worker has settled, one way or another. What is still leased all the same stays listed.
DELETE FROM towpath.lease AS lease
WHERE id IN :ids AND NOT EXISTS (SELECT 1 FROM towpath.job AS job WHERE job.id = ANY (lease.jobs) AND job.leased)

-- name: forget_spent_leases
-- Those whose worker did not say so: none of their jobs is leased any more. A job that is leased again meanwhile is listed
-- in the row of that lease.
DELETE FROM towpath.lease AS lease
WHERE until < :now AND NOT EXISTS (SELECT 1 FROM towpath.job AS job WHERE job.id = ANY (lease.jobs) AND job.leased)

-- name: longest_lease
-- That a worker of the last day gives, in seconds.
SELECT max(date_part('epoch', alive_until - seen_at)) AS seconds FROM towpath.worker
