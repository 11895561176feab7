-- fragment: provider_job_columns
id, job_id, name, part, tenant, provider, model, shard, key, ordered, state, prepared, called_at, external_id, status, polls,
transient_failures, answer, error, output_uri, polled_at, next_poll_at, deadline, created_at, submitted_at, ended_at

-- name: add_provider_job
INSERT INTO towpath.provider_job (id, job_id, name, part, tenant, provider, model, shard, key, ordered, state, created_at)
VALUES (:id, :job_id, :name, :part, :tenant, :provider, :model, :shard, :key, :ordered, :state, :now)

-- name: provider_jobs_of_step
SELECT {provider_job_columns} FROM towpath.provider_job
WHERE job_id = :job_id AND name = :name AND NOT dropped ORDER BY part

-- name: provider_jobs_of_jobs
SELECT {provider_job_columns} FROM towpath.provider_job WHERE job_id IN :job_ids AND NOT dropped ORDER BY job_id, name, part

-- name: provider_jobs_by_id
SELECT {provider_job_columns} FROM towpath.provider_job WHERE id IN :ids ORDER BY id FOR UPDATE

-- name: provider_jobs_found
SELECT {provider_job_columns} FROM towpath.provider_job WHERE id IN :ids ORDER BY id

-- name: provider_job_owner
SELECT job_id FROM towpath.provider_job WHERE id = :id

-- name: provider_job_by_external_id
SELECT {provider_job_columns} FROM towpath.provider_job WHERE provider = :provider AND external_id = :external_id

-- name: unknown_provider_jobs
SELECT {provider_job_columns} FROM towpath.provider_job WHERE state = 'unknown' AND id > :after ORDER BY id LIMIT :limit

-- name: drop_provider_jobs
UPDATE towpath.provider_job SET dropped = true, next_poll_at = NULL WHERE job_id = :job_id AND name = :name AND NOT dropped

-- What may still be under way at a provider stays until somebody has cancelled it there.
-- name: delete_provider_jobs
DELETE FROM towpath.provider_job WHERE job_id IN :ids AND NOT state IN ('intended', 'calling', 'submitted', 'unknown')

-- name: delete_provider_jobs_without_jobs
DELETE FROM towpath.provider_job AS ordered
WHERE ordered.id IN :ids AND NOT EXISTS (SELECT 1 FROM towpath.job AS job WHERE job.id = ordered.job_id)

-- name: note_prepared
UPDATE towpath.provider_job SET prepared = :prepared WHERE id = :id AND state = 'intended'

-- name: note_calling
UPDATE towpath.provider_job SET state = 'calling', called_at = :now WHERE id = :id AND state = 'intended'

-- An id that is known is written down whoever holds the job by now, but once: the first that was told stays.
-- name: note_submitted
UPDATE towpath.provider_job
SET state = 'submitted', external_id = :external_id, status = :status, submitted_at = :now, called_at = NULL, error = NULL,
    transient_failures = 0, next_poll_at = :next_poll_at, deadline = :deadline
WHERE id = :id AND state IN :states AND external_id IS NULL

-- It is certain that nothing was started: it may be sent again.
-- name: note_not_submitted
UPDATE towpath.provider_job SET state = 'intended', called_at = NULL, error = NULL WHERE id = :id AND state IN :states

-- name: note_unknown
UPDATE towpath.provider_job SET state = 'unknown', called_at = NULL, error = :error WHERE id = :id AND state = 'calling'

-- name: note_ended
UPDATE towpath.provider_job
SET state = :state, status = :status, error = :error, ended_at = :now, next_poll_at = NULL, called_at = NULL
WHERE id = :id AND state IN :states

-- Whoever polls it next does so in so many seconds: until then it is theirs who have just taken it, and `polls` is their fence.
-- name: due_provider_jobs
SELECT id FROM towpath.provider_job
WHERE next_poll_at <= :now AND next_poll_at IS NOT NULL AND provider IN :providers
ORDER BY next_poll_at LIMIT :limit FOR UPDATE SKIP LOCKED

-- name: take_provider_jobs
UPDATE towpath.provider_job SET polls = polls + 1, next_poll_at = :until WHERE id IN :ids

-- name: note_poll
UPDATE towpath.provider_job
SET state = :state, status = :status, transient_failures = :transient_failures, answer = :answer, error = :error,
    output_uri = coalesce(:output_uri, output_uri), polled_at = :now, next_poll_at = :next_poll_at, ended_at = :ended_at
WHERE id = :id AND polls = :polls AND state = 'submitted'

-- name: poll_now
UPDATE towpath.provider_job SET next_poll_at = :now, told_at = :now
WHERE provider = :provider AND external_id = :external_id AND state = 'submitted' AND next_poll_at > :now
  AND (told_at IS NULL OR told_at <= :lately)

-- name: poll_soon
UPDATE towpath.provider_job SET next_poll_at = :soon
WHERE provider = :provider AND external_id = :external_id AND state = 'submitted' AND next_poll_at > :soon

-- name: open_provider_jobs
SELECT count(*) AS jobs FROM towpath.provider_job
WHERE job_id = :job_id AND name = :name AND NOT dropped AND state IN :states

-- What a job that has ended leaves behind at providers. By id alone, a table that is believed to be small would be walked through.
-- name: provider_jobs_left_behind
SELECT job_id, id FROM towpath.provider_job WHERE job_id IN :job_ids AND state IN :states ORDER BY job_id, id

-- name: next_provider_poll
SELECT next_poll_at FROM towpath.provider_job
WHERE next_poll_at IS NOT NULL AND provider IN :providers ORDER BY next_poll_at LIMIT 1

-- Nobody will wake these: what they wait for has ended, or was never there.
-- name: forsaken_by_providers
SELECT id FROM towpath.job AS job
WHERE rare_state = 'waiting' AND state = 'waiting' AND reason = 'provider' AND id > :after
  AND NOT EXISTS (SELECT 1 FROM towpath.provider_job AS ordered
                  WHERE ordered.job_id = job.id AND NOT ordered.dropped AND ordered.state IN :states)
ORDER BY id LIMIT :limit
