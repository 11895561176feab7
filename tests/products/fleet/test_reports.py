"""How tasks stand and how the fleet does, as JSON, CSV and SQL."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from tests.engine.working import eventually, on_sqlite
from tests.products.fleet.test_storm import dispatch
from tests.products.fleet.yard import DAWDLE, SHOUT, STUMBLE, Yard
from tests.server.api.site import ok
from towpath import Job, State
from towpath.fleet import tables
from towpath.fleet.records import Ended
from towpath.fleet.status import standing

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SENT = dispatch(1, None, made=0, ended=None)
OVER = dispatch(1, "lost", made=0, ended=1)


def job(state: State, **more: object) -> Job:
    return Job("job", "fleet", "fleet.task", state=state, **more)  # type: ignore[arg-type]  # fields of a job


@pytest.mark.parametrize(
    ("state", "unsent", "sent", "taken_up"),
    [
        (State.QUEUED, "PENDING", "QUEUED", "IN-PROGRESS"),
        (State.RUNNING, "PENDING", "QUEUED", "IN-PROGRESS"),
        (State.WAITING, "QUEUED", "QUEUED", "IN-PROGRESS"),
        (State.SUCCEEDED, "COMPLETED", "COMPLETED", "COMPLETED"),
        (State.PARTIAL, "COMPLETED", "COMPLETED", "COMPLETED"),
        (State.FAILED, "FAILED", "FAILED", "FAILED"),
        (State.CANCELLED, "CANCELLED", "CANCELLED", "CANCELLED"),
    ],
)
def test_a_status_is_told_from_the_job_and_the_newest_sending(state: State, unsent: str, sent: str, taken_up: str) -> None:
    from dataclasses import replace

    told = [standing([job(state)], last, None, NOW).status for last in (None, replace(SENT, claimed_at=None), SENT)]
    assert told == [unsent, sent, taken_up]
    assert standing([job(state)], OVER, None, NOW).status == unsent


def test_a_task_that_failed_and_is_tried_again_says_when() -> None:
    later = NOW + timedelta(minutes=5)
    told = standing([job(State.QUEUED, failures=1, run_at=later)], OVER, None, NOW)
    assert (told.status, told.retry_at) == ("FAILED", later)
    due = standing([job(State.QUEUED, failures=1, run_at=NOW)], OVER, None, NOW)
    assert (due.status, due.retry_at) == ("PENDING", None)


def test_a_task_outlives_its_job() -> None:
    assert standing([], None, Ended("job", State.SUCCEEDED), NOW).status == "COMPLETED"
    assert standing([], None, None, NOW).status == "FAILED"


def test_tables_hold_no_formulas() -> None:
    assert tables.lines(["a"], [["=1+1"], ["@x"], ["-5"], [-5], ["\tx"], [None], ['q"q']]) == (
        'a\r\n\'=1+1\r\n\'@x\r\n\'-5\r\n-5\r\n\'\tx\r\n""\r\n"q""q"\r\n'
    )


async def test_reports_and_the_sql_view_say_what_the_api_says(yard: Yard) -> None:
    async with yard.working(), yard.node("tug"):
        done = await yard.make(SHOUT)
        failed = await yard.make(STUMBLE, settings={"how": "fatal", "times": 9})
        retried = await yard.make(STUMBLE, settings={"how": "transient", "times": 1})
        cancelled = await yard.make(DAWDLE)
        await yard.until(cancelled, "IN-PROGRESS")
        await yard.ann.post(f"/api/fleet/tasks/{cancelled}/cancel")
        # Its worker is busy with it until its next heartbeat.
        async with yard.node("lighter"):
            for one in (done, failed, retried, cancelled):
                await yard.done(one)
    waiting = await yard.make(SHOUT)
    told = {one["task_id"]: one for one in ok(await yard.ann.get("/api/fleet/tasks"))["items"]}
    view = "towpath_fleet_tasks" if yard.app.url.startswith("sqlite") else "towpath.fleet_tasks"
    rows = await yard.app.read(lambda now: now.fetch(f"SELECT * FROM {view}"))
    assert {row["task_id"]: row["status"] for row in rows} == {key: one["status"] for key, one in told.items()}
    assert {row["task_id"]: row["failure_reason"] for row in rows} == {k: one["failure_reason"] for k, one in told.items()}
    assert {row["task_id"]: row["retries"] for row in rows} == {key: one["retries"] for key, one in told.items()}
    assert [told[one]["status"] for one in (done, failed, retried, cancelled, waiting)] == [
        "COMPLETED", "FAILED", "COMPLETED", "CANCELLED", "PENDING",
    ]  # fmt: skip

    report = ok(await yard.ann.get("/api/fleet/report"))
    assert (report["completed"], report["failed"], report["retried"]) == (2, 2, 1)
    assert report["failure_rate"] == 0.5
    assert [(one["kind"], one["reason"], one["attempts"]) for one in report["causes"]] == [
        ("transcription", "it stumbled", 2)
    ]
    assert {one["worker"] for one in report["workers"]} <= {"tug", "lighter"}
    assert sum(one["completed"] for one in report["trend"]) == 2
    for what in ("tasks", "trend", "causes", "workers"):
        answer = await yard.ann.get("/api/fleet/report.csv", params={"what": what})
        assert answer.headers["content-type"].startswith("text/csv")
        assert len(list(csv.DictReader(io.StringIO(answer.text)))) == {"tasks": 5, "trend": 25}.get(
            what, len(report.get(what, ()))
        )
    failing = ok(await yard.ann.get("/api/fleet/tasks", params={"status": ["failed"]}))["items"]
    assert [one["task_id"] for one in failing] == [failed]
    workers = ok(await yard.root.get("/api/fleet/workers"))["items"]
    assert sum(one["completed"] for one in workers) == 2


@on_sqlite
async def test_nobodys_many_tasks_stand_before_somebody_elses_few(yard: Yard) -> None:
    hand = await yard.hand()
    many = [await yard.make(SHOUT) for _ in range(12)]
    asset = await yard.file(tenant="south")
    told = {"asset_id": asset, "operation": SHOUT}
    few = [ok(await yard.bob.post("/api/fleet/tasks", json=told), 202)["id"] for _ in range(3)]
    order: list[str] = []
    async with yard.working():
        for _ in range(12):
            task = await hand.claimed(SHOUT)
            order.append(task.task)
            await hand.say(task, "COMPLETED", output=await hand.put(task, b"x"))
    assert set(few) <= set(order[:8])
    assert set(many) & set(order[:8])


@on_sqlite
async def test_most_tasks_wait_in_the_database_and_not_with_workers(yard: Yard) -> None:
    for _ in range(10):
        await yard.make(SHOUT)
    async with yard.working():

        async def sent() -> int:
            found = ok(await yard.ann.get("/api/fleet/tasks"))["items"]
            return sum(one["status"] == "QUEUED" for one in found)

        await eventually(lambda: _is(sent, 4))
        job_id = next(
            one["job_id"] for one in ok(await yard.ann.get("/api/fleet/tasks"))["items"] if one["status"] == "QUEUED"
        )
        await eventually(lambda: _waits_for(yard, job_id, "a worker to ask for it"))  # it was sent, and goes to rest


async def _waits_for(yard: Yard, job_id: str, what: str) -> bool:
    return f"waits for {what}" in (await yard.app.explain(job_id)).sentence


async def _is(count: object, wanted: int) -> bool:
    return await count() == wanted  # type: ignore[operator]  # a coroutine function
