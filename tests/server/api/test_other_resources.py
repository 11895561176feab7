"""Operations, workers, schedules and health."""

import asyncio

import pytest

from tests.engine.working import working
from tests.server.api.site import Site, ok, problem
from tests.server.api.test_views import view
from tests.services.schedules import own
from towpath.core.records import WorkerRow
from towpath.engine.running.pace import Pace
from towpath.engine.schedules import CODE, Planned, put

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@on_sqlite
async def test_operations_tell_what_they_take(site: Site):
    operations = {one["name"]: one for one in ok(await site.ann.get("/api/operations"))}
    greet = operations["greet"]
    assert (greet["queue"], greet["public"], greet["description"], greet["max_attempts"]) == (
        "front", True, "Says hello.", 3,
    )  # fmt: skip
    assert greet["schema"]["properties"]["times"]["maximum"] == 10
    assert operations["secret"]["public"] is False
    assert operations["secret"]["schema"] == {"type": "null"}, "it takes no payload"
    assert operations["hold"]["schema"] is None, "anything goes"
    after = operations["follow"]["schema"]["properties"]["after"]
    assert (after["type"], after["format"], after["x-towpath"]) == ("string", "uuid", "job")


async def test_workers_are_seen_alive_and_stopped(site: Site):
    async with working(site.app, "back", concurrency=2, name="w1"):
        await site.held()
        [worker] = ok(await site.ann.get("/api/workers"))
        assert (worker["name"], worker["queues"], worker["concurrency"], worker["alive"]) == ("w1", ["back"], 2, True)
        assert (worker["running"], worker["busy"]) == (1, 0.5), "as of now, not of its last heartbeat"
        assert "greet" in worker["operations"]
        site.shop.gate.open()
    from towpath.server import counts

    counts._kept.clear()
    [worker] = ok(await site.ann.get("/api/workers"))
    assert (worker["alive"], worker["running"], worker["busy"]) == (False, 0, 0.0)
    assert worker["stopped_at"] is not None


async def test_what_a_worker_has_claimed_beyond_its_slots_is_said_apart(site: Site, monkeypatch):
    monkeypatch.setattr(Pace, "ending_soon", lambda *_: 1)
    monkeypatch.setattr(Pace, "patience", 3600.0)
    async with working(site.app, "back", concurrency=1):
        await site.held()
        second = await site.held()
        [worker] = ok(await site.ann.get("/api/workers"))
        assert (worker["running"], worker["claimed"], worker["busy"]) == (1, 1, 1.0)
        assert (await site.app.explain(second.id)).reason == "claimed"
        site.shop.gate.open()


@pytest.mark.parametrize(("lease", "alive"), [(30.0, True), (0.0, False)])
async def test_a_worker_that_says_nothing_more_is_alive_for_as_long_as_its_leases(site: Site, lease: float, alive: bool):
    heart = site.app.services.store.heart()
    await asyncio.to_thread(heart.beat, WorkerRow("w", "w1", ["back"], concurrency=2), [], lease)
    await asyncio.to_thread(heart.close)
    [worker] = ok(await site.ann.get("/api/workers"))
    assert (worker["name"], worker["alive"]) == ("w1", alive)
    [row] = await view(site, "v_workers")
    assert bool(row["alive"]) is alive


async def test_schedules_are_the_tenants_own_and_admins_see_all(site: Site):
    assert [plan["name"] for plan in ok(await site.ann.get("/api/schedules"))] == ["nightly"]
    assert [plan["name"] for plan in own(ok(await site.root.get("/api/schedules")))] == ["nightly", "weekly"]
    [plan] = ok(await site.bob.get("/api/schedules"))
    assert (plan["cron"], plan["timezone"], plan["operation"], plan["paused"]) == ("0 3 * * 1", "UTC", "greet", False)
    assert plan["next_fire"] is not None
    assert (plan["last_fire"], plan["last_job_id"], plan["last_state"]) == (None, None, None)


async def test_admins_hold_a_schedule_and_have_it_now(site: Site):
    assert ok(await site.root.post("/api/schedules/nightly/pause"))["paused"]
    job = ok(await site.root.post("/api/schedules/nightly/fire"))
    assert (job["operation"], job["tenant"], job["state"]) == ("greet", "north", "queued")
    [plan] = ok(await site.ann.get("/api/schedules"))
    assert (plan["paused"], plan["last_job_id"], plan["last_state"]) == (True, job["id"], "queued")
    assert not ok(await site.root.post("/api/schedules/nightly/resume"))["paused"]
    again = ok(await site.root.post("/api/schedules/nightly/fire"))
    assert again["id"] != job["id"]
    for verb in ("pause", "resume", "fire"):
        problem(await site.ann.post(f"/api/schedules/nightly/{verb}"), 403, "forbidden")
        problem(await site.root.post(f"/api/schedules/unheard/{verb}"), 404, "not_found")


NEW = {"name": "by-hand", "cron": "0 3 * * *", "operation": "greet", "payload": {"name": "n"}, "tenant": "south"}


async def test_admins_plan_what_no_code_declares_and_delete_it_again(site: Site):
    made = ok(await site.root.post("/api/schedules", json=NEW), 201)
    assert (made["name"], made["origin"], made["retired"], made["tenant"]) == ("by-hand", "people", False, "south")
    assert (made["cron"], made["timezone"], made["paused"]) == ("0 3 * * *", "UTC", False)
    assert [plan["name"] for plan in ok(await site.ann.get("/api/schedules"))] == ["nightly"]
    assert [plan["name"] for plan in ok(await site.bob.get("/api/schedules"))] == ["by-hand", "weekly"]
    job = ok(await site.root.post("/api/schedules/by-hand/fire"))
    assert (job["operation"], job["tenant"]) == ("greet", "south")
    assert (await site.root.delete("/api/schedules/by-hand")).status_code == 204
    problem(await site.root.delete("/api/schedules/by-hand"), 404, "not_found")
    told = {(line["action"], line["target"], line["account"]) for line in ok(await site.root.get("/api/audit"))["items"]}
    assert {("schedule.create", "by-hand", "root"), ("schedule.delete", "by-hand", "root")} <= told


async def test_what_code_has_left_behind_is_told_as_such_and_can_be_deleted(site: Site):
    left = Planned("left", "0 3 * * *", "greet", {"name": "n"}, "south", "UTC", 2)
    services = site.app.services
    await services.store.run(lambda tx: put(tx, services, left, CODE))
    plans = {plan["name"]: (plan["origin"], plan["retired"]) for plan in own(ok(await site.root.get("/api/schedules")))}
    assert plans == {"left": ("code", True), "nightly": ("code", False), "weekly": ("code", False)}
    assert (await site.root.delete("/api/schedules/left")).status_code == 204


async def test_a_schedule_without_a_tenant_is_the_callers_own(site: Site):
    made = ok(await site.root.post("/api/schedules", json={**NEW, "tenant": None}), 201)
    assert made["tenant"] == ok(await site.root.get("/api/session"))["tenant"]


async def test_a_schedule_that_cannot_be_is_refused(site: Site):
    for wrong, status, kind in (
        ({"cron": "often"}, 422, "invalid"),
        ({"timezone": "Mars/Olympus"}, 422, "invalid"),
        ({"name": "no spaces"}, 422, "invalid"),
        ({"priority": 9}, 422, "invalid"),
        ({"payload": {"times": 99}}, 422, "invalid"),
        ({"operation": "unheard"}, 404, "not_found"),
        ({"name": "nightly"}, 409, "conflict"),
    ):
        problem(await site.root.post("/api/schedules", json={**NEW, **wrong}), status, kind)
    assert "out of the code" in problem(await site.root.delete("/api/schedules/nightly"), 409, "conflict")["detail"]
    assert problem(await site.root.delete("/api/schedules/nigthly"), 404, "not_found")["remedy"] == "did you mean 'nightly'?"


async def test_members_neither_plan_nor_delete(site: Site):
    ok(await site.root.post("/api/schedules", json={**NEW, "tenant": "north"}), 201)
    problem(await site.ann.post("/api/schedules", json={**NEW, "name": "other", "tenant": "north"}), 403, "forbidden")
    problem(await site.ann.delete("/api/schedules/by-hand"), 403, "forbidden")
    problem(await site.bob.delete("/api/schedules/by-hand"), 403, "forbidden")


async def test_health_needs_nobody_and_readiness_needs_the_database(site: Site):
    assert ok(await site.nobody.get("/healthz"))["status"] == "ok"
    assert ok(await site.nobody.get("/readyz"))["status"] == "ok"
    await site.app.close()
    assert ok(await site.nobody.get("/healthz"))["status"] == "ok"
    problem(await site.nobody.get("/readyz"), 503, "unavailable")
    await site.app.open()


async def test_a_database_that_lacks_a_migration_is_not_ready(site: Site):
    sqlite = site.app.url.startswith("sqlite")
    table = "towpath_migration" if sqlite else "towpath.migration"
    async with site.app.transaction() as tx:
        await tx.execute(f"DELETE FROM {table} WHERE slice = 'identity'")
    assert "towpath migrate" in problem(await site.nobody.get("/readyz"), 503, "unavailable")["remedy"]


@on_sqlite
async def test_everything_else_below_api_is_a_problem_document(site: Site):
    problem(await site.ann.get("/api/unheard"), 404, "not_found")
    problem(await site.ann.get("/api"), 404, "not_found")
    assert (await site.ann.put("/api/jobs", json={})).status_code == 405
