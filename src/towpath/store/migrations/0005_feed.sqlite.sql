-- What one commit did to many jobs is one row that lists them in `jobs`, instead of an event each. Decision 0020 says what it
-- gains.
--
-- Only what leaves nothing else to say is told like that: that a job was created, that it was started for the first time, if
-- that is its second event, and that it succeeded, which is its last. The job's row says the same: whatever of these has no
-- event of its own was told by such a row.
--
-- Such a row belongs to no job; its `job_id` is a star and something random. It is in the table of events because their
-- numbers are the order of the stream.
ALTER TABLE towpath_event ADD COLUMN queue text;
ALTER TABLE towpath_event ADD COLUMN jobs text;

-- What only the row of a job knows.
CREATE VIEW towpath_implied AS
SELECT id AS job_id, 1 AS seq, 0 AS attempt, 'job.created' AS name, 'info' AS level, NULL AS message,
       NULL AS fields, created_at AS ts FROM towpath_job AS job
WHERE NOT EXISTS (SELECT 1 FROM towpath_event AS own WHERE own.job_id = job.id AND own.seq = 1)
UNION ALL
SELECT id, 2, 1, 'job.started', 'info', NULL, NULL, started_at FROM towpath_job AS job
WHERE seq > 1 AND started_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM towpath_event AS own WHERE own.job_id = job.id AND own.seq = 2)
UNION ALL
SELECT id, seq, attempt, 'job.succeeded', 'info', NULL, NULL, finished_at FROM towpath_job AS job
WHERE state = 'succeeded' AND NOT EXISTS (SELECT 1 FROM towpath_event AS own WHERE own.job_id = job.id AND own.seq = job.seq);

-- Everything that happened to a job.
CREATE VIEW towpath_happened AS
SELECT job_id, seq, attempt, name, level, message, fields, ts FROM towpath_event WHERE jobs IS NULL
UNION ALL
SELECT job_id, seq, attempt, name, level, message, fields, ts FROM towpath_implied;

-- Everything that was told, in order of `id` and `nth`. What a row of many jobs has told already and was kept for one of them has
-- a number below 0. Jobs that are gone have left the stream.
CREATE VIEW towpath_told AS
SELECT id, 0 AS nth, job_id, seq, attempt, name, level, message, fields, ts FROM towpath_event WHERE jobs IS NULL AND id > 0
UNION ALL
SELECT event.id, listed.key + 1, listed.value, event.seq, event.attempt, event.name, 'info', NULL, NULL, event.ts
FROM towpath_event AS event CROSS JOIN json_each(event.jobs) AS listed
WHERE event.jobs IS NOT NULL AND EXISTS (SELECT 1 FROM towpath_job AS job WHERE job.id = listed.value);
