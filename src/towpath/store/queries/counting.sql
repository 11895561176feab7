-- name: states_of
SELECT state, count(*) AS jobs, count(CASE WHEN finished_at >= :since THEN 1 END) AS recent
FROM towpath.job
WHERE id IN :ids AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text))
GROUP BY state

-- name: scheduled_jobs
-- Queued for later: until then they are nobody's backlog.
SELECT count(*) AS jobs FROM (
    SELECT 1 FROM towpath.job
    WHERE state = 'queued' AND run_at IS NOT NULL AND run_at > :now
      AND (CAST(:tenant AS text) IS NULL OR tenant = CAST(:tenant AS text)) LIMIT :limit
) AS counted

-- name: ended_since
-- With the deltas that nobody has compacted yet: while no worker runs, nobody does.
SELECT CAST(coalesce(sum(succeeded), 0) AS bigint) AS succeeded, CAST(coalesce(sum(partial), 0) AS bigint) AS partial,
       CAST(coalesce(sum(failed), 0) AS bigint) AS failed, CAST(coalesce(sum(cancelled), 0) AS bigint) AS cancelled
FROM (SELECT succeeded, partial, failed, cancelled FROM towpath.rollup WHERE minute >= :since
      UNION ALL
      SELECT succeeded, partial, failed, cancelled FROM towpath.count_delta) AS parts

-- name: failures_of
SELECT id, state, operation, error_kind AS kind, error_group AS message, finished_at FROM towpath.job WHERE id IN :ids

-- name: leased_lanes
SELECT lane, count(*) AS jobs FROM towpath.job
WHERE leased AND id IN (SELECT job_id FROM towpath.lease WHERE queue = :queue) GROUP BY lane

-- name: leased_workers
SELECT worker_id, count(*) AS jobs FROM towpath.job
WHERE leased AND worker_id IS NOT NULL AND id IN (SELECT job_id FROM towpath.lease) GROUP BY worker_id

-- name: ready_lanes
-- One step in the index per lane, however many jobs each has.
WITH RECURSIVE known (lane) AS (
    SELECT min(lane) FROM towpath.job WHERE queue = :queue AND priority = :priority AND ready
    UNION ALL
    SELECT (SELECT min(lane) FROM towpath.job
            WHERE queue = :queue AND priority = :priority AND ready AND lane > known.lane)
    FROM known WHERE known.lane IS NOT NULL
)
SELECT lane FROM known WHERE lane IS NOT NULL LIMIT :limit

-- name: ready_in_lane
SELECT count(*) AS jobs FROM (
    SELECT 1 FROM towpath.job
    WHERE queue = :queue AND priority = :priority AND lane = :lane AND ready LIMIT :limit
) AS counted

-- name: queue_starts_of
SELECT CAST(sum(started) AS bigint) AS started
FROM (SELECT started FROM towpath.rollup WHERE queue = :queue AND minute >= :since
      UNION ALL
      SELECT started FROM towpath.count_delta WHERE queue = :queue) AS parts

-- name: queue_starts
SELECT queue, CAST(sum(started) AS bigint) AS started
FROM (SELECT queue, started FROM towpath.rollup WHERE minute >= :since
      UNION ALL
      SELECT queue, started FROM towpath.count_delta) AS parts
GROUP BY queue

-- name: worker_by_id
SELECT id, name FROM towpath.worker WHERE id = :id

-- name: recent_workers
SELECT * FROM towpath.worker ORDER BY started_at DESC LIMIT :limit

-- name: schedule_by_name
SELECT * FROM towpath.schedule WHERE name = :name FOR UPDATE
