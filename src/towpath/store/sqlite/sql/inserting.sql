-- What belongs to new jobs and to new events. The jobs themselves are inserted by statements that are made of the list of
-- columns (`tx.py`), and many at once by statements for so many rows (`bulk.py`).

-- name: insert_event
INSERT INTO towpath.event (job_id, seq, attempt, name, level, message, fields, ts)
VALUES (:job_id, :seq, :attempt, :name, :level, :message, :fields, :ts)

-- name: insert_event_batch
-- For streams: each of these jobs got its event of that number.
INSERT INTO towpath.event_batch (ts, seq, jobs) VALUES (:now, :seq, :jobs)

-- name: insert_owned
INSERT INTO towpath.owned (tenant, id) VALUES (:tenant, :id)

-- name: count_new
INSERT INTO towpath.count_delta (queue, operation, created, queued, at) VALUES (:queue, :operation, :jobs, :jobs, :now)
