"""The named points at which processes are killed: every one that the engine has."""

from tests.engine.test_killed_orders import AFTER_A_LOST_ANSWER, ON_THE_WAY

# Where a worker dies, and at which reach: early enough to be reached for certain, late enough for work to be under way.
WORKER_POINTS: dict[str, int] = {
    "tx.begin": 9,
    "tx.commit": 8,
    "tx.committed": 8,
    "apply.looked": 2,
    "apply.locked": 3,
    "apply.deeper": 1,
    "apply.written": 3,
    "record.locked": 4,
    "record.written": 4,
    "fan_out.recorded": 1,
    "gate.locked": 2,
    "gate.counted": 2,
    "due.locked": 2,
    "expire.selected": 1,
    "rescue.selected": 1,
    "schedule.seen": 1,
    "schedule.locked": 1,
    "signal.not_yet": 1,
    "worker.claimed": 2,
    "worker.ran": 3,
}

# Where a client dies in the middle of an enqueue, a cancel, a requeue, a signal, or an operator's change of a lane.
CLIENT_POINTS: dict[str, int] = {
    "tx.begin": 5,
    "tx.commit": 5,
    "tx.committed": 5,
    "apply.locked": 2,
    "apply.written": 2,
    "lane.locked": 1,
    "signal.woken": 1,
}

# What SQLite does not have: its writer is alone, so it counts and locks nothing of these.
WORKER_POINTS_OF_POSTGRES: dict[str, int] = {"claim.counted": 3}
CLIENT_POINTS_OF_POSTGRES: dict[str, int] = {"enqueue.locked": 1, "enqueue.committed": 2}

LEFT_OUT: dict[str, str] = {
    "webhooks.read": "in servers; tests/server/api/test_webhook_dispatching.py kills them there",
    "webhooks.moved": "the same",
    **dict.fromkeys(
        (*ON_THE_WAY, AFTER_A_LOST_ANSWER), "at providers; tests/engine/test_killed_orders.py kills workers there"
    ),
    "tx.again": "only after a deadlock or a serialization failure; from there it is a transaction like any other",
}
