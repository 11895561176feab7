"""Cancel, retry and delete for many jobs: by ids or by filter, in bounded batches."""

import httpx
import pytest

from tests.engine.working import in_state, working
from tests.server.api.site import Site, ok, problem
from towpath.engine.asking import listing
from towpath.engine.changing import batches
from towpath.server.routes import bulk

MISSING = "01890000-0000-7000-8000-000000000000"


async def everything(client: httpx.AsyncClient, action: str, **wanted: object) -> tuple[int, dict[str, str]]:
    """Asks until nothing remains; answers how many it was done to and what was refused."""
    done, refused = 0, {}
    while True:
        answer = ok(await client.post("/api/jobs/bulk", json={"action": action, "filter": wanted}))
        done, refused = done + answer["done"], refused | answer["refused"]
        if not answer["remaining"]:
            return done, refused
        wanted["after"] = answer["next"]


async def test_by_ids_it_does_what_it_can_and_says_what_it_could_not(site: Site):
    over = await site.done("break", "vase")
    own = await site.make("greet", {"name": "n"})
    foreign = await site.make("greet", {"name": "f"}, tenant="south")
    answer = ok(
        await site.ann.post("/api/jobs/bulk", json={"action": "cancel", "ids": [own.id, over.id, foreign.id, MISSING]})
    )
    assert answer == {
        "done": 1,
        "refused": {over.id: "it had ended: failed", foreign.id: "not found", MISSING: "not found"},
        "remaining": False,
        "next": None,
    }
    assert (await site.app.get(foreign.id)).state == "queued"


async def test_a_filter_means_the_callers_tenant_only(site: Site):
    for tenant in ("north", "south"):
        for _ in range(3):
            await site.make("greet", {"name": "n"}, tenant=tenant)
    assert await everything(site.ann, "cancel", state=["queued"]) == (3, {})
    assert {job.state.value for job in await site.app.list(tenant="south")} == {"queued"}
    problem(
        await site.ann.post("/api/jobs/bulk", json={"action": "cancel", "filter": {"tenant": "south"}}), 403, "forbidden"
    )
    assert await everything(site.root, "cancel", tenant="south") == (3, {})


async def test_it_works_in_batches_until_nothing_remains(site: Site, monkeypatch):
    monkeypatch.setattr(bulk, "BATCH", 4)
    monkeypatch.setattr(batches, "_TOGETHER", 3)
    monkeypatch.setattr(listing, "MOST_EXAMINED", 8)
    for number in range(20):
        await site.make("greet" if number % 2 else "hold", {"name": "n"})
    first = ok(await site.ann.post("/api/jobs/bulk", json={"action": "cancel", "filter": {"operation": "greet"}}))
    assert (first["done"] <= 4, first["remaining"]) == (True, True)
    done, refused = await everything(site.ann, "cancel", operation="greet")
    assert (done + first["done"], len(refused)) == (10, first["done"])
    assert {job.state.value for job in await site.app.list(operation="hold")} == {"queued"}


async def test_retry_by_filter(site: Site):
    jobs = await site.app.enqueue_many({"operation": "break", "payload": n, "tenant": "north"} for n in range(5))
    async with working(site.app):
        for job in jobs:
            await in_state(site.app, job, "failed")
    fine = await site.make("greet", {"name": "n"})
    assert await everything(site.ann, "retry", state=["failed"]) == (5, {})
    done, refused = await everything(site.ann, "retry")
    assert (done, set(refused)) == (0, {fine.id, *(job.id for job in jobs)})


async def test_delete_takes_trees_and_leaves_children_that_are_asked_for_alone(site: Site):
    family = await site.done("fan", {"children": 3})
    queued = await site.make("greet", {"name": "n"})
    [child, *_] = await site.app.list(parent=family.id)
    answer = ok(await site.ann.post("/api/jobs/bulk", json={"action": "delete", "ids": [child.id]}))
    assert family.id in answer["refused"][child.id]
    assert await everything(site.ann, "delete") == (5, {})
    assert list(await site.app.list(tenant="north")) == [], queued.id


async def test_running_handlers_are_waited_for_together(site: Site):
    async with working(site.app):
        held = [await site.held(), await site.held()]
        assert await everything(site.ann, "delete") == (2, {}), held


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_request_that_does_not_say_what_it_means_is_refused(site: Site):
    for body in (
        {"action": "cancel"}, {"action": "cancel", "ids": [], "filter": {}}, {"action": "explode", "ids": []},
        {"action": "cancel", "ids": ["x"]}, {"action": "cancel", "filter": {"colour": "red"}},
        {"action": "cancel", "filter": {"state": ["lost"]}}, {"action": "cancel", "ids": [MISSING] * 1001},
    ):  # fmt: skip
        problem(await site.ann.post("/api/jobs/bulk", json=body), 422, "invalid")
    assert ok(await site.ann.post("/api/jobs/bulk", json={"action": "delete", "ids": []}))["done"] == 0
