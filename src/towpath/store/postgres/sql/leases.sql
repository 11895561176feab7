-- name: longest_lease
-- That a worker of the last day gives, in seconds.
SELECT max(date_part('epoch', alive_until - seen_at)) AS seconds FROM towpath.worker
