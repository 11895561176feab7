-- name: steps
SELECT * FROM towpath.step WHERE job_id = :job_id ORDER BY ord

-- name: drop_steps
DELETE FROM towpath.step
WHERE job_id = :job_id
  AND (CAST(:after AS text) IS NULL
       OR ord > (SELECT ord FROM towpath.step WHERE job_id = :job_id AND name = CAST(:after AS text)))

-- name: drop_timeouts
DELETE FROM towpath.step
WHERE job_id = :job_id AND kind = 'signal' AND done AND CAST(output AS text) LIKE '{"timeout"%'

-- name: put_step
INSERT INTO towpath.step AS known (job_id, name, kind, ord, done, output, attempt, retries, duration_ms, model, tokens_in,
                                   tokens_out, cost_cents, until, created_at)
VALUES (:job_id, :name, :kind, :ord, :done, :output, :attempt, :retries, :duration_ms, :model, :tokens_in,
        :tokens_out, :cost_cents, :until, :created_at)
ON CONFLICT (job_id, name) DO UPDATE
SET done = excluded.done, output = excluded.output, attempt = excluded.attempt, retries = excluded.retries,
    duration_ms = excluded.duration_ms, model = excluded.model, tokens_in = excluded.tokens_in,
    tokens_out = excluded.tokens_out, cost_cents = excluded.cost_cents, until = excluded.until
WHERE NOT known.done

-- name: steps_done
SELECT job_id, name FROM towpath.step WHERE job_id IN :job_ids AND name IN :names AND done

-- name: step_by_name
SELECT * FROM towpath.step WHERE job_id = :job_id AND name = :name

-- name: awaited_signals
SELECT name, output FROM towpath.step WHERE job_id = :job_id AND kind = 'signal' AND NOT done ORDER BY ord

-- name: open_waits
SELECT * FROM towpath.step WHERE job_id IN :job_ids AND kind = 'signal' AND NOT done ORDER BY job_id, ord

-- name: last_words
SELECT job_id, output FROM towpath.step WHERE job_id IN :job_ids AND kind = 'last word' ORDER BY job_id, ord

-- name: signals_not_taken
SELECT job_id, name FROM towpath.signal WHERE job_id IN :job_ids AND consumed_by IS NULL

-- name: add_signal
INSERT INTO towpath.signal (id, job_id, name, payload, created_at) VALUES (:id, :job_id, :name, :payload, :now)
ON CONFLICT (id) DO NOTHING

-- name: next_signal
SELECT id, payload FROM towpath.signal
WHERE job_id = :job_id AND name = :name AND consumed_by IS NULL
ORDER BY id LIMIT 1

-- name: consume_signal
UPDATE towpath.signal SET consumed_by = :step WHERE id = :id AND consumed_by IS NULL
