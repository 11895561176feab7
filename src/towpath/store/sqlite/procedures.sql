-- Claims and plain successes as procedures of the connection: a trigger on a view is one. Its arguments are the inserted row,
-- its body is as many statements as it takes. They are temporary, so they always belong to this version of the code, and no
-- migration has to know of them. They have the prefix of all our tables, because the user's own statements run on this
-- connection, too, and a temporary name wins.
--
-- Joins are CROSS where the order matters: the other way round they would walk the whole table. Durations are written as
-- millionths (`1500e-6`), because SQLite takes its time for writing a fraction.

-- What stands in braces is filled in by `hot.py`: columns and states from their lists; and for the bands the part after `-- band:`,
-- at the end of this file, once per priority.

CREATE TEMP TABLE IF NOT EXISTS towpath_ended
    (rid integer PRIMARY KEY, id text, seq integer, attempt integer, queue text, operation text, ran real, result text);

CREATE TEMP VIEW IF NOT EXISTS towpath_settle AS SELECT NULL AS asked, NULL AS now;

-- `asked` is JSON, [[id, attempt, result], …]; what was asked and did happen is in `towpath_ended` afterwards.
CREATE TEMP TRIGGER IF NOT EXISTS towpath_settle INSTEAD OF INSERT ON towpath_settle BEGIN
    DELETE FROM towpath_ended;

    INSERT INTO towpath_ended
    SELECT job.rowid, job.id, job.seq + 1, job.attempt, job.queue, job.operation, NEW.now - job.started_at, asked.value ->> 2
    FROM json_each(NEW.asked) AS asked
    CROSS JOIN main.towpath_job AS job ON job.id = asked.value ->> 0 AND job.attempt = asked.value ->> 1
    WHERE job.state = {after_claim} AND job.parent_id IS NULL AND job.gate = 0 AND job.children_total = 0;

    UPDATE towpath_job
    SET state = {after_succeed}, leased = 0, lease_until = NULL, worker_id = NULL, reason = NULL, finished_at = NEW.now,
        result = (SELECT result FROM towpath_ended WHERE rid = towpath_job.rowid), error = NULL, error_kind = NULL,
        error_group = NULL, live_key = NULL, seq = seq + 1
    WHERE rowid IN (SELECT rid FROM towpath_ended);

    DELETE FROM towpath_lease WHERE job_id IN (SELECT id FROM towpath_ended);

    INSERT INTO towpath_event_batch (ts, seq, jobs)
    SELECT NEW.now, seq, '["' || group_concat(id, '","') || '"]' FROM towpath_ended GROUP BY seq;

    INSERT INTO towpath_count_delta (queue, operation, succeeded, running, run_seconds, runs, at)
    SELECT queue, operation, count(*), -count(*), sum(ran), '[' || group_concat(CAST(ran * 1e6 AS integer), 'e-6,') || 'e-6]', NEW.now
    FROM towpath_ended GROUP BY queue, operation;
END;

CREATE TEMP TABLE IF NOT EXISTS towpath_begun
    (rid integer, id text, seq integer, attempt integer, operation text, waited real, claimed text);

CREATE TEMP VIEW IF NOT EXISTS towpath_claim AS
SELECT NULL AS queue, NULL AS room, NULL AS worker_id, NULL AS until, NULL AS now,
       NULL AS cursor_0, NULL AS cursor_1, NULL AS cursor_2, NULL AS cursor_3;

-- What was claimed is in `towpath_begun` afterwards. The bands are read one after the other, and no further than until there are as many
-- jobs as there is room for. `claimed` is the job as JSON in the order of `Claimed`: the columns that every claim answers, and then all
-- others as one array, or null if they are as in most jobs (`columns.py`).
CREATE TEMP TRIGGER IF NOT EXISTS towpath_claim INSTEAD OF INSERT ON towpath_claim BEGIN
    DELETE FROM towpath_begun;

    INSERT INTO towpath_begun
    SELECT job.rowid, job.id, seq + 1, attempt + 1, operation,
           CASE WHEN attempt = 0 THEN NEW.now - coalesce(due_at, created_at) END,
           json_array({claimed}, CASE WHEN {claimed_if_unlike} THEN {claimed_more} || '' END)
    FROM ({bands}
          LIMIT NEW.room) AS picked
    CROSS JOIN main.towpath_job AS job ON job.rowid = picked.rid
    WHERE state IN ({before_claim});

    UPDATE towpath_job
    SET state = {after_claim}, ready = 0, reason = NULL, leased = 1, lease_until = NEW.until, worker_id = NEW.worker_id,
        attempt = attempt + 1, seq = seq + 1, started_at = coalesce(started_at, NEW.now)
    WHERE rowid IN (SELECT rid FROM towpath_begun);

    INSERT INTO towpath_lease (job_id, queue) SELECT id, NEW.queue FROM towpath_begun;

    INSERT INTO towpath_event_batch (ts, seq, jobs)
    SELECT NEW.now, seq, '["' || group_concat(id, '","') || '"]' FROM towpath_begun GROUP BY seq;

    INSERT INTO towpath_event (job_id, seq, attempt, name, ts)
    SELECT id, seq, attempt, 'job.started', NEW.now FROM towpath_begun WHERE seq > 2 OR attempt > 1;

    INSERT INTO towpath_count_delta (queue, operation, started, queued, running, wait_seconds, waits, at)
    SELECT NEW.queue, operation, count(*), -count(*), count(*), coalesce(sum(waited), 0),
           '[' || group_concat(CAST(waited * 1e6 AS integer), 'e-6,') || 'e-6]', NEW.now
    FROM towpath_begun GROUP BY operation;
END;

CREATE TEMP VIEW IF NOT EXISTS towpath_turn AS
SELECT NULL AS asked, claim.* FROM towpath_claim AS claim;

-- Both in one go. From a queue that is paused or has a cap nothing is taken: whoever asks for that counts first.
CREATE TEMP TRIGGER IF NOT EXISTS towpath_turn INSTEAD OF INSERT ON towpath_turn BEGIN
    INSERT INTO towpath_settle (asked, now) VALUES (NEW.asked, NEW.now);
    INSERT INTO towpath_claim (queue, room, worker_id, until, now, cursor_0, cursor_1, cursor_2, cursor_3)
    VALUES (NEW.queue,
            CASE WHEN EXISTS (SELECT 1 FROM main.towpath_queue WHERE name = NEW.queue AND (paused OR max_slots IS NOT NULL))
                 THEN 0 ELSE NEW.room END,
            NEW.worker_id, NEW.until, NEW.now,
            NEW.cursor_0, NEW.cursor_1, NEW.cursor_2, NEW.cursor_3);
END;

-- band:
SELECT rid FROM (SELECT rowid AS rid FROM main.towpath_job
                 WHERE queue = NEW.queue AND priority = {band} AND ready AND pass >= NEW.cursor_{band}
                 ORDER BY pass, id LIMIT NEW.room)
