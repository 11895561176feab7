"""The push stream carries tasks as lists show them, and who is there; and no message for each sign of life."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from itertools import count

import pytest

from tests.engine.working import on_sqlite
from tests.products.fleet.test_guards import begun, lapse
from tests.products.fleet.yard import SHOUT, Yard
from tests.server.api.site import ok
from tests.server.push.listening import Listener
from tests.server.push.serving import serving
from towpath import Transaction
from towpath.fleet.recovering import ALIVE, Recovering
from towpath.identity import accounts, tokens

Listen = Callable[..., Awaitable[Listener]]
_numbers = count(1)


@pytest.fixture
async def listen(yard: Yard) -> AsyncIterator[Listen]:
    """A connected listener of a tenant."""
    store = yard.app.services.store
    async with serving(yard.site.api, lifespan="off") as address, AsyncExitStack() as stack:

        async def make(tenant: str, *, admin: bool = False) -> Listener:
            account = await accounts.create(store, f"listener-{next(_numbers)}", tenants=[tenant], admin=admin)
            secret, _ = await tokens.create(store, account, name="a stream", tenant=tenant)
            listener = Listener(address, secret, {"types": ["task", "fleet_worker"]})
            return await stack.enter_async_context(listener.connected())

        yield make


def workers(ear: Listener) -> list[tuple[str, bool, int]]:
    return [(data["name"], data["alive"], data["busy"]) for data in ear.of("fleet_worker")]


@on_sqlite
async def test_a_task_is_told_of_as_lists_show_it(yard: Yard, listen: Listen) -> None:
    ear = await listen("north")
    async with yard.working(), yard.node("tug"):
        done = await yard.done(await yard.make(SHOUT))
        await ear.until(lambda heard: heard.of("task") and heard.of("task")[-1]["status"] == "COMPLETED")
    [listed] = ok(await yard.ann.get("/api/fleet/tasks"))["items"]
    assert ear.of("task")[-1] == {"id": done["task_id"]} | listed
    assert listed["worker"] == "tug"
    assert {"QUEUED", "IN-PROGRESS"} <= {data["status"] for data in ear.of("task")} | {"QUEUED"}


@on_sqlite
async def test_a_claim_is_told_to_the_tasks_own_tenant_and_to_no_other(yard: Yard, listen: Listen) -> None:
    ear, others = await listen("north"), await listen("default")
    before = others.parser.last_id
    async with yard.working():
        hand = await yard.hand()
        task_id = await yard.make(SHOUT)
        await hand.claimed()
        await ear.until(lambda heard: any(data["status"] == "IN-PROGRESS" for data in heard.of("task")))
        late = Listener(others.address, others.token, {"types": ["task", "fleet_worker"]})
        late.parser.last_id = before
        async with late.connected():
            await yard.app.transact(lambda tx: tx.tell("task", task_id, tenant="default"))
            await ear.until(lambda heard: heard.of("task"))
            mark = await _marked(yard, late)
    assert mark
    assert others.of("task") == late.of("task") == others.of("fleet_worker") == late.of("fleet_worker") == []


async def _marked(yard: Yard, ear: Listener) -> bool:
    """What is told last is heard last: a task that is not there is told as deleted."""
    gone = "01a1f5a1-44b0-7572-8638-170457b8d171"
    await yard.app.transact(lambda tx: tx.tell("task", gone, tenant="default"))
    await ear.until(lambda heard: {"id": gone} in heard.of("task.deleted"))
    return True


@on_sqlite
async def test_administrators_hear_who_came_who_went_and_who_is_busy(yard: Yard, listen: Listen) -> None:
    root, ann = await listen("harbour", admin=True), await listen("north")
    async with yard.working():
        hand, task = await begun(yard)
        await root.until(lambda heard: ("by hand", True, 1) in workers(heard))
        await hand.say(task, "COMPLETED", output=await hand.put(task, b"done"))
        await root.until(lambda heard: workers(heard)[-1] == ("by hand", True, 0))
        await yard.done(task.task)

        async def long_ago(tx: Transaction) -> None:
            await tx.execute(f"UPDATE towpath_fleet_worker SET seen_at = seen_at - {(2 * ALIVE).total_seconds()}")

        await yard.app.transact(long_ago)
        await Recovering(yard.app).notice_silence()
        await root.until(lambda heard: workers(heard)[-1] == ("by hand", False, 0))
        told = len(workers(root))
        await Recovering(yard.app).notice_silence()
        assert await hand.claim(wait_seconds=0) is None
        await root.until(lambda heard: workers(heard)[-1] == ("by hand", True, 0))
        assert len(workers(root)) == told + 1
        ok(await yard.root.delete(f"/api/fleet/workers/{hand.id}"))
        await root.until(lambda heard: heard.of("fleet_worker")[-1]["revoked_at"] is not None)
    assert ann.of("fleet_worker") == []


@on_sqlite
async def test_a_worker_that_loses_its_task_is_told_as_idle(yard: Yard, listen: Listen) -> None:
    root = await listen("harbour", admin=True)
    async with yard.working():
        _, task = await begun(yard)
        await root.until(lambda heard: ("by hand", True, 1) in workers(heard))
        await lapse(yard, task)
        await root.until(lambda heard: workers(heard)[-1] == ("by hand", True, 0))


@on_sqlite
async def test_a_heartbeat_that_tells_nothing_new_is_not_pushed(yard: Yard, listen: Listen) -> None:
    async with yard.working():
        hand, task = await begun(yard)
        await hand.say(task, "IN-PROGRESS", progress=1, total=2, message="half")
        root = await listen("harbour", admin=True)
        for _ in range(3):
            assert (await hand.say(task, "IN-PROGRESS", progress=1, total=2, message="half"))["verdict"] == "accepted"
        await hand.say(task, "IN-PROGRESS", progress=2)
        await root.until(lambda heard: heard.of("task") and heard.of("task")[-1]["progress"] == 2)
    assert [data["progress"] for data in root.of("task")] == [2]
    assert root.of("fleet_worker") == []
