-- name: put_floor
INSERT INTO towpath.clock (queue, priority, floor) VALUES (:queue, :priority, :floor)
ON CONFLICT (queue, priority) DO UPDATE SET floor = max(floor, excluded.floor)
