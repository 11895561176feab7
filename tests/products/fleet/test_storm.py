"""A short storm over a fleet; `make chaos` has a long one. And the checker itself, which has to notice what is broken."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.products.fleet.promises import of_task
from tests.products.fleet.storm import Weather, environment, storm
from tests.services.sqs import SqsServer
from tests.services.weed import WeedServer
from towpath import Job, State
from towpath.fleet.records import Dispatch, Task
from towpath.fleet.status import Standing
from towpath.fleet.views import TaskView

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TASK = Task(
    "task", "north", "op", {}, "s3://in", "a", "e", "e", 1, "s3://out", "a.json", "", "a", None, None, None, NOW, 1, "0" * 64
)


def dispatch(attempt: int, outcome: str | None, *, made: int, ended: int | None) -> Dispatch:
    def at(minutes: int | None) -> datetime | None:
        return None if minutes is None else NOW + timedelta(minutes=minutes)

    return Dispatch(
        "task", attempt, "job", "north", "op", "", "key", NOW + timedelta(minutes=made), None, NOW, None, None, None, "w",
        NOW, NOW, NOW, 1, None, None, None, None, None, outcome, None, None, at(ended),
    )  # fmt: skip


LOST, DONE = dispatch(1, "lost", made=0, ended=1), dispatch(2, "completed", made=2, ended=3)


def view(status: str, state: State = State.SUCCEEDED) -> TaskView:
    return TaskView(TASK, Standing(status, Job("job", "fleet", "op", state=state)), DONE)


@pytest.mark.slow
async def test_a_short_storm_breaks_no_promise(
    postgres_url: str, s3_server: WeedServer, sqs_server: SqsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment(s3_server, sqs_server).items():
        monkeypatch.setenv(name, value)
    verdict = await storm(postgres_url, s3_server, Weather(tasks=120, kills=2, seed=15), tmp_path)
    assert verdict.broken == []
    assert verdict.statuses["COMPLETED"] + verdict.statuses["CANCELLED"] == 120
    assert verdict.statuses["CANCELLED"] > 0
    assert verdict.attempts.total() > 120  # or nothing went wrong that had to be made good


def test_what_holds_is_not_complained_about() -> None:
    assert of_task(view("COMPLETED"), [LOST, DONE], set()) == []


@pytest.mark.parametrize(
    ("seen", "attempts", "cancelled", "said"),
    [
        (view("IN-PROGRESS", State.WAITING), [LOST], set(), "not ended"),
        (view("COMPLETED"), [LOST], set(), "0 attempts completed it"),
        (view("COMPLETED"), [replace(DONE, attempt=1), DONE], set(), "2 attempts completed it"),
        (view("COMPLETED"), [DONE], set(), "its attempts are [2]"),
        (view("COMPLETED"), [replace(DONE, attempt=1), replace(LOST, attempt=2)], set(), "sent again after"),
        (view("COMPLETED"), [LOST, DONE], {"task"}, "it was cancelled"),
        (view("COMPLETED"), [replace(LOST, ended_at=None), DONE], set(), "has not ended"),
        (view("COMPLETED"), [replace(LOST, ended_at=NOW + timedelta(hours=1)), DONE], set(), "before attempt 1 had ended"),
        (view("FAILED", State.FAILED), [LOST], set(), "could be tried again"),
    ],
)
def test_the_checker_notices_what_is_broken(
    seen: TaskView, attempts: list[Dispatch], cancelled: set[str], said: str
) -> None:
    assert said in " ".join(of_task(seen, attempts, cancelled))
