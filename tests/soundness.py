"""What must hold for every row of the job table. PostgreSQL does not check it, because it would do so with every statement,
and SQLite only the simpler half; so the tests do, after everything they do to a store."""

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
        WHEN leased AND id NOT IN (SELECT job_id FROM towpath.lease) THEN 'leased without a row that says so'
    END AS broken FROM towpath.job) AS looked
WHERE broken IS NOT NULL
UNION ALL
SELECT job_id, 'a row says that it is leased' FROM towpath.lease AS lease
WHERE NOT EXISTS (SELECT 1 FROM towpath.job AS job WHERE job.id = lease.job_id AND job.leased AND job.queue = lease.queue)
UNION ALL
SELECT job_id, 'has an event that no batch lists' FROM (
    SELECT job_id, seq FROM towpath.job_event EXCEPT SELECT job_id, seq FROM {batches} AS listed) AS unlisted
UNION ALL
SELECT job_id, 'has not had an event that a batch lists' FROM (
    SELECT job_id, seq FROM {batched_events} EXCEPT SELECT job_id, seq FROM towpath.job_event) AS untrue
UNION ALL
SELECT job_id, 'has an event that batches list twice' FROM {batches} AS listed GROUP BY job_id, seq HAVING count(*) > 1
"""
_BATCHES = {
    "sqlite": "(SELECT xid, value AS job_id, seq FROM towpath_event_batch, json_each(jobs))",
    "postgres": "(SELECT xid, job_id, seq FROM towpath.event_batch, unnest(jobs) AS job_id)",
}


def batched_events(dialect: str) -> str:
    """What batches list of jobs that are there, as a table: which event of which job, and in which batch."""
    job = "towpath_job" if dialect == "sqlite" else "towpath.job"
    return f"(SELECT * FROM {_BATCHES[dialect]} AS listed WHERE job_id IN (SELECT id FROM {job})) AS batched"


def unsound(dialect: str) -> str:
    text = UNSOUND.replace("{batches}", _BATCHES[dialect]).replace("{batched_events}", batched_events(dialect))
    return text.replace("towpath.", "towpath_") if dialect == "sqlite" else text
