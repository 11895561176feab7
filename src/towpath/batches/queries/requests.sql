-- name: gathering_joined
-- One more for the batch that is open; with it the batch may be full, and then takes no more.
UPDATE towpath.batch_gathering
SET count = count + 1, bytes = bytes + :bytes,
    is_open = (CAST(:most AS bigint) = 0 OR count + 1 < CAST(:most AS bigint))
              AND (CAST(:most_bytes AS bigint) = 0 OR bytes + :bytes < CAST(:most_bytes AS bigint))
WHERE tenant = :tenant AND provider = :provider AND model = :model AND span = :span AND is_open
RETURNING batch_id, count, is_open

-- name: gathering_begun
INSERT INTO towpath.batch_gathering (batch_id, tenant, provider, model, span, is_open, count, bytes, due_at)
VALUES (:batch_id, :tenant, :provider, :model, :span, :is_open, 1, :bytes, :due_at)
ON CONFLICT DO NOTHING

-- name: gathering_closed
UPDATE towpath.batch_gathering SET is_open = false WHERE batch_id = :batch_id AND is_open

-- name: gathering_void
UPDATE towpath.batch_gathering SET is_open = false, is_void = true WHERE batch_id = :batch_id

-- name: gathering_by_id
SELECT batch_id, is_open, is_void, count, due_at FROM towpath.batch_gathering WHERE batch_id = :batch_id

-- name: gatherings_delete
DELETE FROM towpath.batch_gathering WHERE batch_id IN :ids

-- name: batch_request_add
INSERT INTO towpath.batch_request (job_id, name, batch_id, number, body, digest)
VALUES (:job_id, :name, :batch_id, :number, :body, :digest)

-- name: batch_request_of
SELECT request.batch_id, request.digest, request.error, gathering.is_open, gathering.count, gathering.due_at
FROM towpath.batch_request AS request
LEFT JOIN towpath.batch_gathering AS gathering ON gathering.batch_id = request.batch_id
WHERE request.job_id = :job_id AND request.name = :name

-- name: batch_requests_of_job
SELECT request.batch_id, gathering.is_open, gathering.count, gathering.due_at
FROM towpath.batch_request AS request
JOIN towpath.batch_gathering AS gathering ON gathering.batch_id = request.batch_id
WHERE request.job_id = :job_id AND request.error IS NULL

-- name: batch_request_wait
-- Whether the job has begun to wait for the answer, and has it.
SELECT done FROM towpath.step WHERE job_id = :job_id AND name = :step

-- name: batch_request_forget
DELETE FROM towpath.batch_request WHERE job_id = :job_id AND name = :name

-- name: batch_requests_page
SELECT job_id, name, number, body FROM towpath.batch_request
WHERE batch_id = :batch_id AND number > :after AND error IS NULL
ORDER BY number LIMIT :limit

-- name: batch_requests_sent
UPDATE towpath.batch_request SET body = NULL WHERE batch_id = :batch_id AND body IS NOT NULL

-- name: batch_requests_ended
-- Of jobs that no longer want an answer, or are gone.
SELECT job_id FROM towpath.batch_request AS request
WHERE batch_id = :batch_id
  AND NOT EXISTS (SELECT 1 FROM towpath.job AS job
                  WHERE job.id = request.job_id AND job.state IN ('queued', 'running', 'waiting'))

-- name: batch_requests_withdraw
DELETE FROM towpath.batch_request WHERE batch_id = :batch_id AND job_id IN :job_ids

-- name: batch_requests_take
DELETE FROM towpath.batch_request WHERE batch_id = :batch_id AND number IN :numbers AND error IS NULL RETURNING job_id, name, number

-- name: batch_requests_fail
UPDATE towpath.batch_request SET error = :error WHERE batch_id = :batch_id AND number IN :numbers AND error IS NULL
RETURNING job_id, name, number

-- name: batch_requests_count
SELECT count(*) AS requests, count(body) AS unsent FROM towpath.batch_request WHERE batch_id = :batch_id

-- name: batch_titled
UPDATE towpath.batch SET title = :title WHERE id = :id

-- name: batch_requests_of_jobs
SELECT job_id, name, number FROM towpath.batch_request
WHERE batch_id = :batch_id AND job_id IN :job_ids AND error IS NULL ORDER BY number
