"""Queues and lanes: figures for everyone, settings for administrators."""

import pytest

from tests.engine.working import in_state, working
from tests.server.api.site import Site, ok, problem


async def test_a_queue_at_a_glance(site: Site):
    await site.make("greet", {"name": "n"})
    queues = {queue["name"]: queue for queue in ok(await site.ann.get("/api/queues"))}
    assert set(queues) == {"front", "back"} | set(site.app.registry.queues())
    front = queues["front"]
    assert (front["queued"], front["running"], front["paused"], front["max_slots"], front["workers"]) == (
        1, 0, False, None, 0,
    )  # fmt: skip
    assert front["oldest_wait_seconds"] >= 0
    assert queues["back"]["oldest_wait_seconds"] is None


async def test_lanes_show_fair_shares_and_only_admins_see_those_of_others(site: Site):
    async with working(site.app):
        held = await site.make("hold", tenant="east")
        await in_state(site.app, held, "running")
        await site.app.queues.pause("back")
        for tenant in ("north", "north", "south"):
            await site.make("hold", tenant=tenant)
        await site.app.queues.lane("back", "south", weight=2.0, max_slots=5)
        await site.app.queues.lane("back", "idle", weight=4.0)
        lanes = {lane["lane"]: lane for lane in ok(await site.root.get("/api/queues/back"))["lanes"]}
        shown = {name: (lane["ready"], lane["running"], lane["share"]) for name, lane in lanes.items()}
        assert shown == {"north": (2, 0, 0.25), "south": (1, 0, 0.5), "east": (0, 1, 0.25), "idle": (0, 0, 0.0)}
        assert (lanes["south"]["weight"], lanes["south"]["max_slots"]) == (2.0, 5)
        own = ok(await site.ann.get("/api/queues/back"))
        assert [lane["lane"] for lane in own["lanes"]] == ["north"]
        assert own["paused"]
        site.shop.gate.open()


async def test_admins_pause_resume_and_cap(site: Site):
    assert ok(await site.root.post("/api/queues/front/pause"))["paused"]
    assert [queue.name for queue in await site.app.queues.list() if queue.paused] == ["front"]
    assert not ok(await site.root.post("/api/queues/front/resume"))["paused"]
    assert ok(await site.root.patch("/api/queues/front", json={"max_slots": 3}))["max_slots"] == 3
    assert ok(await site.root.patch("/api/queues/front", json={"max_slots": None}))["max_slots"] is None


async def test_admins_set_lanes(site: Site):
    path = "/api/queues/front/lanes/north"
    lane = ok(await site.root.put(path, json={"weight": 3, "max_roots": 2}))
    assert (lane["queue"], lane["lane"], lane["weight"], lane["max_slots"], lane["max_roots"]) == (
        "front", "north", 3.0, None, 2,
    )  # fmt: skip
    both = problem(await site.root.put(path, json={"max_slots": 1, "max_roots": 1}), 422, "invalid")
    assert both["errors"][0]["path"] == "max_roots"
    ok(await site.root.put("/api/queues/front/lanes/a%2Fb c", json={}))
    assert {"a/b c", "north"} <= {one.lane for one in await site.app.queues.lanes("front")}


async def test_settings_are_for_admins_only_and_for_queues_that_exist(site: Site):
    calls = [
        ("POST", "/api/queues/front/pause", None), ("POST", "/api/queues/front/resume", None),
        ("PATCH", "/api/queues/front", {"max_slots": 1}), ("PUT", "/api/queues/front/lanes/x", {}),
    ]  # fmt: skip
    for method, path, body in calls:
        problem(await site.ann.request(method, path, json=body), 403, "forbidden")
        problem(await site.root.request(method, path.replace("front", "nowhere"), json=body), 404, "not_found")
    assert problem(await site.ann.get("/api/queues/fornt"), 404, "not_found")["remedy"] == "did you mean 'front'?"
    problem(await site.root.patch("/api/queues/front", json={}), 422, "invalid")
    problem(await site.root.patch("/api/queues/front", json={"max_slots": -1}), 422, "invalid")


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_queue_whose_name_has_slashes_is_reached(site: Site):
    site.app.operation("deep", queue="a/b.c")(site.shop.secret)
    assert ok(await site.root.post("/api/queues/a/b.c/pause"))["name"] == "a/b.c"
    assert ok(await site.root.get("/api/queues/a%2Fb.c"))["paused"]
