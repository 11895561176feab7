-- name: fleet_dispatch_add
INSERT INTO towpath.fleet_dispatch (task_id, attempt, job_id, tenant, operation, route, link_key, made_at, deadline, lease_until)
VALUES (:task_id, :attempt, :job_id, :tenant, :operation, :route, :link_key, :now, :deadline, :lease_until)

-- name: fleet_dispatch_newest
SELECT task_id, attempt, job_id, tenant, operation, route, link_key, made_at, sent_at, deadline, get_url, put_url, urls_until,
       worker_id, claimed_at, heard_at, lease_until, sequence, progress, progress_total, message, report, reported_at,
       outcome, kind, reason, ended_at
FROM towpath.fleet_dispatch WHERE task_id = :task_id ORDER BY attempt DESC LIMIT 1

-- name: fleet_dispatch_one
SELECT task_id, attempt, job_id, tenant, operation, route, link_key, made_at, sent_at, deadline, get_url, put_url, urls_until,
       worker_id, claimed_at, heard_at, lease_until, sequence, progress, progress_total, message, report, reported_at,
       outcome, kind, reason, ended_at
FROM towpath.fleet_dispatch WHERE task_id = :task_id AND attempt = :attempt

-- name: fleet_dispatches_of
SELECT task_id, attempt, job_id, tenant, operation, route, link_key, made_at, sent_at, deadline, get_url, put_url, urls_until,
       worker_id, claimed_at, heard_at, lease_until, sequence, progress, progress_total, message, report, reported_at,
       outcome, kind, reason, ended_at
FROM towpath.fleet_dispatch WHERE task_id IN :ids ORDER BY task_id, attempt

-- name: fleet_dispatches_newest_of
SELECT task_id, attempt, job_id, tenant, operation, route, link_key, made_at, sent_at, deadline, get_url, put_url, urls_until,
       worker_id, claimed_at, heard_at, lease_until, sequence, progress, progress_total, message, report, reported_at,
       outcome, kind, reason, ended_at
FROM towpath.fleet_dispatch AS dispatch WHERE task_id IN :ids
  AND attempt = (SELECT max(attempt) FROM towpath.fleet_dispatch AS other WHERE other.task_id = dispatch.task_id)

-- name: fleet_dispatch_expired_count
-- How often in a row its URLs had ended before anybody took it up.
SELECT count(*) AS times FROM towpath.fleet_dispatch
WHERE task_id = :task_id AND outcome = 'expired' AND attempt > (
    SELECT coalesce(max(attempt), 0) FROM towpath.fleet_dispatch
    WHERE task_id = :task_id AND outcome IS NOT NULL AND outcome <> 'expired'
)

-- name: fleet_dispatch_minted
UPDATE towpath.fleet_dispatch SET get_url = :get_url, put_url = :put_url, urls_until = :until
WHERE task_id = :task_id AND attempt = :attempt AND ended_at IS NULL

-- name: fleet_dispatch_sent
UPDATE towpath.fleet_dispatch SET sent_at = :now, lease_until = :lease_until
WHERE task_id = :task_id AND attempt = :attempt AND sent_at IS NULL AND report IS NULL AND ended_at IS NULL

-- name: fleet_dispatch_heard
UPDATE towpath.fleet_dispatch
SET worker_id = :worker_id, claimed_at = coalesce(claimed_at, :now), heard_at = :now, lease_until = :lease_until,
    sequence = :sequence, progress = coalesce(CAST(:progress AS double precision), progress),
    progress_total = coalesce(CAST(:total AS double precision), progress_total), message = coalesce(CAST(:message AS text), message)
WHERE task_id = :task_id AND attempt = :attempt AND report IS NULL AND ended_at IS NULL AND sequence < :sequence
  AND (worker_id IS NULL OR worker_id = :worker_id)

-- name: fleet_dispatch_reported
UPDATE towpath.fleet_dispatch
SET worker_id = :worker_id, claimed_at = coalesce(claimed_at, :now), heard_at = :now, sequence = :sequence,
    report = :report, reported_at = :now
WHERE task_id = :task_id AND attempt = :attempt AND report IS NULL AND ended_at IS NULL AND sequence < :sequence
  AND (worker_id IS NULL OR worker_id = :worker_id)

-- name: fleet_dispatch_lost
UPDATE towpath.fleet_dispatch SET report = :report, reported_at = :now
WHERE task_id = :task_id AND attempt = :attempt AND report IS NULL AND ended_at IS NULL AND lease_until <= :now

-- name: fleet_dispatches_overdue
SELECT task_id, attempt, job_id, tenant, worker_id, claimed_at, heard_at, lease_until FROM towpath.fleet_dispatch
WHERE report IS NULL AND ended_at IS NULL AND lease_until <= :now
  AND (lease_until > :after OR (lease_until = :after AND task_id > :after_id))
ORDER BY lease_until, task_id LIMIT :limit

-- name: fleet_dispatch_end
UPDATE towpath.fleet_dispatch SET outcome = :outcome, kind = :kind, reason = :reason, ended_at = :now, get_url = NULL, put_url = NULL
WHERE task_id = :task_id AND attempt = :attempt AND ended_at IS NULL

-- name: fleet_dispatches_end
-- Whatever of a task is under way.
UPDATE towpath.fleet_dispatch SET outcome = :outcome, ended_at = :now, get_url = NULL, put_url = NULL
WHERE task_id = :task_id AND ended_at IS NULL

-- name: fleet_offers
SELECT task_id, attempt, tenant FROM towpath.fleet_dispatch
WHERE route = '' AND claimed_at IS NULL AND report IS NULL AND ended_at IS NULL AND operation IN :operations
  AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
ORDER BY made_at, task_id LIMIT :limit FOR UPDATE SKIP LOCKED

-- name: fleet_claimed
UPDATE towpath.fleet_dispatch
SET worker_id = :worker_id, claimed_at = :now, heard_at = :now, lease_until = :lease_until, sent_at = coalesce(sent_at, :now)
WHERE task_id = :task_id AND attempt = :attempt AND claimed_at IS NULL AND report IS NULL AND ended_at IS NULL

-- name: fleet_unclaimed
-- Of a worker that was never told of the task.
UPDATE towpath.fleet_dispatch SET worker_id = NULL, claimed_at = NULL, heard_at = NULL, lease_until = :lease_until
WHERE task_id = :task_id AND attempt = :attempt AND worker_id = :worker_id AND sequence = 0 AND report IS NULL AND ended_at IS NULL

-- name: fleet_note_add
INSERT INTO towpath.fleet_note (task_id, attempt, number, at, level, name, message, fields)
VALUES (:task_id, :attempt, :number, :now, :level, :name, :message, :fields)
ON CONFLICT DO NOTHING

-- name: fleet_notes_of
SELECT attempt, number, at, level, name, message, fields FROM towpath.fleet_note
WHERE task_id = :task_id ORDER BY attempt, number LIMIT :limit

-- name: fleet_open_lanes
SELECT DISTINCT tenant FROM towpath.fleet_dispatch WHERE report IS NULL AND ended_at IS NULL

-- name: fleet_offer_known
SELECT task_id FROM towpath.fleet_dispatch
WHERE route = '' AND claimed_at IS NULL AND report IS NULL AND ended_at IS NULL AND operation IN :operations
  AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
LIMIT 1
