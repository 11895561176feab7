"""Operations, workers, schedules and health."""

import pytest

from tests.engine.working import working
from tests.server.api.site import Site, ok, problem

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


async def test_schedules_are_the_tenants_own_and_admins_see_all(site: Site):
    assert [plan["name"] for plan in ok(await site.ann.get("/api/schedules"))] == ["nightly"]
    assert [plan["name"] for plan in ok(await site.root.get("/api/schedules"))] == ["nightly", "weekly"]
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
