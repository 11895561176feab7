"""What a remote worker does for its operations, and when it cannot keep their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.working import on_sqlite
from tests.products.fleet.yard import SHOUT, Yard
from towpath.cli.fleeting.working import _id_of
from towpath.fleet.messages import MOST_MESSAGE, StatusReport, WorkerReport
from towpath.fleet.node.operations import RemoteContext, fitting


def context() -> RemoteContext:
    return RemoteContext("task", 1, "a.txt", {}, Path("input"), Path("output"))


async def test_what_an_operation_writes_fits_into_its_reports_however_much_it_is() -> None:
    ctx = context()
    for number in range(100):
        await ctx.emit("long", "é" * 5000, fields={"x": "y" * (7000 if number % 2 else 10**6)})
    reports = 0
    while notes := fitting(ctx.notes):
        told = {"task": "t", "attempt": 1, "secret": "s" * 43, "worker_id": "w", "sequence": 1, "status": "IN-PROGRESS"}
        body = StatusReport.model_validate(told | {"notes": notes}).model_dump_json()
        assert len(body.encode()) < MOST_MESSAGE
        del ctx.notes[: len(notes)]
        reports += 1
    assert reports > 1
    assert ctx.notes == []


async def test_fields_that_are_too_large_are_replaced_by_their_size() -> None:
    ctx = context()
    await ctx.emit("large", fields={"x": "y" * 20_000})
    await ctx.emit("small", fields={"x": 1})
    assert [one.fields for one in ctx.notes] == [{"truncated": True, "bytes": 20_009}, {"x": 1}]


@pytest.mark.parametrize("name", ["my worker", "Füße", "x" * 300, "/", "host.example-17"])
def test_a_worker_may_be_called_anything(name: str) -> None:
    found = [_id_of(name) for _ in range(2)]
    assert found[0] != found[1]
    assert WorkerReport(worker_id=found[0]).worker_id == found[0]


@on_sqlite
async def test_a_worker_that_cannot_keep_files_says_so_at_once(yard: Yard, tmp_path: Path) -> None:
    async with yard.working(), yard.node(folder=tmp_path / "gone"):
        failed = await yard.done(await yard.make(SHOUT, max_attempts=1))
    assert failed["status"] == "FAILED"
    assert "could not keep the task's files: No such file or directory" in failed["failure_reason"]
    assert failed["attempts"][0]["kind"] == "storage"
