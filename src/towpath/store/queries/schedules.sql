-- name: put_schedule
INSERT INTO towpath.schedule AS known (name, cron, timezone, operation, queue, payload, tenant, priority, max_attempts,
                                       next_fire)
VALUES (:name, :cron, :timezone, :operation, :queue, :payload, :tenant, :priority, :max_attempts, :next_fire)
ON CONFLICT (name) DO UPDATE
SET operation = excluded.operation, queue = excluded.queue, payload = excluded.payload, tenant = excluded.tenant,
    priority = excluded.priority, max_attempts = excluded.max_attempts,
    next_fire = CASE WHEN known.cron = excluded.cron AND known.timezone = excluded.timezone
                     THEN known.next_fire ELSE excluded.next_fire END,
    cron = excluded.cron, timezone = excluded.timezone

-- name: schedule_is_due
SELECT 1 AS found FROM towpath.schedule WHERE NOT paused AND next_fire <= :now LIMIT 1

-- name: due_schedules
SELECT * FROM towpath.schedule WHERE NOT paused AND next_fire <= :now ORDER BY name FOR UPDATE SKIP LOCKED

-- name: schedule_fired
UPDATE towpath.schedule SET last_fire = :fired, next_fire = :next_fire, last_job_id = :job_id WHERE name = :name

-- name: next_schedule
SELECT min(next_fire) AS next_fire FROM towpath.schedule WHERE NOT paused

-- name: schedules
SELECT * FROM towpath.schedule ORDER BY name

-- name: pause_schedule
UPDATE towpath.schedule SET paused = :paused WHERE name = :name
