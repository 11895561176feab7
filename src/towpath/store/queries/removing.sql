-- name: leased_roots
-- Everything that is leased is looked at, which is no more than there are slots.
SELECT DISTINCT root_id FROM towpath.job WHERE leased AND root_id IN :roots AND id IN (SELECT job_id FROM towpath.lease)
