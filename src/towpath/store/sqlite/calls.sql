-- How `hot.py` calls the procedures of `procedures.sql`, and reads what they have left in their temporary tables. Every job
-- passes here, so values are bound by place, which costs less than by name.

-- name: has_ready
SELECT 1 FROM towpath.job WHERE queue = ? AND ready LIMIT 1

-- name: settle
INSERT INTO temp.towpath_settle (asked, now) VALUES (?, ?)

-- name: claim
INSERT INTO temp.towpath_claim (queue, room, worker_id, until, now, cursor_0, cursor_1, cursor_2, cursor_3)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: turn
INSERT INTO temp.towpath_turn (asked, queue, room, worker_id, until, now, cursor_0, cursor_1, cursor_2, cursor_3)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: ended
-- The jobs that have ended, if those are fewer than were asked for; NULL if all have.
SELECT CASE WHEN count(*) < ? THEN json_group_array(id) END FROM temp.towpath_ended

-- name: claimed
-- How many jobs were claimed, and JSON of them.
SELECT count(*), '[' || group_concat(claimed) || ']' FROM temp.towpath_begun

-- name: ended_and_claimed
SELECT (SELECT CASE WHEN count(*) < ? THEN json_group_array(id) END FROM temp.towpath_ended), *
FROM (SELECT count(*), '[' || group_concat(claimed) || ']' FROM temp.towpath_begun)
