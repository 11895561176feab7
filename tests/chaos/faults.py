"""The named points at which processes are killed, and what has to be going on for them to be reached."""

# Where a worker dies, and at which reach: early enough to be reached for certain, late enough for work to be under way.
WORKER_POINTS: dict[str, int] = {
    "tx.commit": 8,
    "tx.committed": 8,
    "apply.locked": 3,
    "apply.written": 3,
    "record.written": 4,
    "fan_out.recorded": 1,
    "gate.locked": 2,
    "signal.not_yet": 1,
    "worker.claimed": 2,
    "worker.ran": 3,
    "rescue.selected": 1,
}

# Where a client dies in the middle of an enqueue, a cancel, a requeue or a signal.
CLIENT_POINTS: dict[str, int] = {
    "tx.commit": 5,
    "tx.committed": 5,
    "apply.locked": 2,
    "apply.written": 2,
    "signal.woken": 1,
}
