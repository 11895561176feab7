"""What must hold for every row of the job table. The database does not check it, because it would do so with every
statement; so the tests do, after everything they do to a store."""

# Rows that break a condition, with the name of it.
UNSOUND = """
SELECT id, broken FROM (
    SELECT id, CASE
        WHEN priority NOT BETWEEN 0 AND 3 OR NOT cost > 0 OR max_attempts < 1 THEN 'numbers'
        WHEN state NOT IN ('queued', 'running', 'waiting', 'succeeded', 'partial', 'failed', 'cancelled') THEN 'state'
        WHEN ready AND state <> 'queued' THEN 'ready'
        WHEN parked AND (state <> 'queued' OR ready) THEN 'parked'
        WHEN state = 'running' AND NOT leased THEN 'running without a lease'
        WHEN leased AND lease_until IS NULL THEN 'lease without an end'
        WHEN (state = 'waiting') <> (deadline IS NOT NULL) THEN 'deadline'
        WHEN run_at IS NOT NULL AND (state <> 'queued' OR ready) THEN 'run_at'
        WHEN coalesce(rare_state, '')
             <> CASE WHEN state IN ('waiting', 'partial', 'failed', 'cancelled') THEN state ELSE '' END THEN 'rare_state'
        WHEN coalesce(live_key, '')
             <> CASE WHEN state IN ('queued', 'running', 'waiting') THEN coalesce(key, '') ELSE '' END THEN 'live_key'
        WHEN gate <> 0 AND (gate > 0) <> (leased OR state IN ('queued', 'running', 'waiting')) THEN 'gate'
        WHEN leased AND id NOT IN (SELECT job_id FROM towpath.held) THEN 'leased and not listed'
    END AS broken FROM towpath.job) AS looked
WHERE broken IS NOT NULL
UNION ALL
SELECT job_id, 'told otherwise than it happened: ' || name FROM (
    SELECT * FROM (SELECT job_id, seq, attempt, name, level, message FROM towpath.told
                   EXCEPT SELECT job_id, seq, attempt, name, level, message FROM towpath.happened) AS told_only
    UNION ALL
    SELECT * FROM (SELECT job_id, seq, attempt, name, level, message FROM towpath.happened
                   EXCEPT SELECT job_id, seq, attempt, name, level, message FROM towpath.told) AS happened_only
) AS differing
"""


def unsound(dialect: str) -> str:
    return UNSOUND.replace("towpath.", "towpath_") if dialect == "sqlite" else UNSOUND
