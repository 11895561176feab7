-- name: put_schedule
INSERT INTO towpath.schedule AS known (name, cron, timezone, operation, queue, payload, tenant, priority, max_attempts,
                                       next_fire, origin, declared_at)
VALUES (:name, :cron, :timezone, :operation, :queue, :payload, :tenant, :priority, :max_attempts, :next_fire, :origin, :now)
ON CONFLICT (name) DO UPDATE
SET operation = excluded.operation, queue = excluded.queue, payload = excluded.payload, tenant = excluded.tenant,
    priority = excluded.priority, max_attempts = excluded.max_attempts,
    next_fire = CASE WHEN known.cron = excluded.cron AND known.timezone = excluded.timezone
                     THEN known.next_fire ELSE excluded.next_fire END,
    cron = excluded.cron, timezone = excluded.timezone, origin = excluded.origin, declared_at = excluded.declared_at

-- name: declare
INSERT INTO towpath.declared (name, declared_by, until) VALUES (:name, :declared_by, :until)
ON CONFLICT (name, declared_by) DO UPDATE SET until = excluded.until

-- name: withdraw
DELETE FROM towpath.declared WHERE declared_by = :declared_by OR until < :now

-- name: still_declared
UPDATE towpath.schedule SET declared_at = :now WHERE name IN :names AND origin = 'code'

-- name: forget_retired
DELETE FROM towpath.schedule
WHERE origin = 'code' AND coalesce(declared_at, :now) < :before
  AND NOT EXISTS (SELECT 1 FROM towpath.declared AS declared WHERE declared.name = towpath.schedule.name AND until >= :now)

-- name: schedule_is_due
SELECT 1 AS found FROM towpath.schedule AS plan
WHERE NOT paused AND next_fire <= :now
  AND (origin = 'people' OR name IN :own
       OR EXISTS (SELECT 1 FROM towpath.declared AS declared WHERE declared.name = plan.name AND until >= :now))
LIMIT 1

-- name: due_schedules
SELECT * FROM towpath.schedule AS plan
WHERE NOT paused AND next_fire <= :now
  AND (origin = 'people' OR name IN :own
       OR EXISTS (SELECT 1 FROM towpath.declared AS declared WHERE declared.name = plan.name AND until >= :now))
ORDER BY name FOR UPDATE SKIP LOCKED

-- name: schedule_fired
UPDATE towpath.schedule SET last_fire = :fired, next_fire = :next_fire, last_job_id = :job_id WHERE name = :name

-- name: next_schedule
SELECT min(next_fire) AS next_fire FROM towpath.schedule AS plan
WHERE NOT paused
  AND (origin = 'people' OR name IN :own
       OR EXISTS (SELECT 1 FROM towpath.declared AS declared WHERE declared.name = plan.name AND until >= :now))

-- name: schedules
SELECT * FROM towpath.schedule ORDER BY name

-- name: declared
SELECT DISTINCT name FROM towpath.declared WHERE until >= :now

-- name: pause_schedule
UPDATE towpath.schedule SET paused = :paused WHERE name = :name

-- name: remove_schedule
DELETE FROM towpath.schedule WHERE name = :name
