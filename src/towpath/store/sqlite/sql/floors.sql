-- name: put_floor
INSERT INTO towpath.clock (queue, priority, floor) VALUES (:queue, :priority, :floor)
ON CONFLICT (queue, priority) DO UPDATE SET floor = max(floor, excluded.floor)

-- name: place
-- Where the next job of a lane goes: behind the lane's last ready job, or at the floor, where claims have come to, if it has none
-- above that; by which weight its cost is divided; and what the lane's gate counts (1: slots, 2: open roots, 0: it has none).
SELECT place.floor,
       coalesce((SELECT pass FROM towpath.job
                 WHERE queue = :queue AND priority = :priority AND lane = :lane AND ready AND pass >= place.floor
                 ORDER BY pass DESC LIMIT 1), place.floor) AS tail,
       coalesce(lane.weight, 1.0) AS weight,
       {lane_gate} AS gate
FROM (SELECT coalesce((SELECT floor FROM towpath.clock WHERE queue = :queue AND priority = :priority), 0.0) AS floor) AS place
LEFT JOIN towpath.lane AS lane ON lane.queue = :queue AND lane.lane = :lane
