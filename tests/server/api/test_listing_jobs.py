"""GET /api/jobs: every filter, pages that miss nothing and repeat nothing, and work that stays bounded."""

from datetime import timedelta

import httpx
import pytest

from tests.engine.working import in_state, working
from tests.server.api.site import Site, ok, problem
from towpath import App
from towpath.engine.asking import id_sources, listing


async def ids(client: httpx.AsyncClient, **query: object) -> list[str]:
    """All pages together."""
    found: list[str] = []
    while True:
        page = ok(await client.get("/api/jobs", params=query))
        found += [job["id"] for job in page["items"]]
        if page["next"] is None:
            return found
        query["after"] = page["next"]


async def test_newest_come_first_and_pages_neither_miss_nor_repeat(site: Site):
    made = [(await site.make("greet", {"name": str(number)})).id for number in range(25)]
    await site.make("greet", {"name": "foreign"}, tenant="south")
    assert await ids(site.ann, limit=10) == made[::-1]
    first = ok(await site.ann.get("/api/jobs", params={"limit": 25}))
    assert (len(first["items"]), first["next"]) == (25, None)


async def test_everybody_sees_their_own_tenant_and_admins_see_all_or_one(site: Site):
    own, foreign = await site.make("greet", {"name": "n"}), await site.make("greet", {"name": "s"}, tenant="south")
    assert await ids(site.ann) == [own.id]
    assert await ids(site.ann, tenant="north") == [own.id]
    problem(await site.ann.get("/api/jobs", params={"tenant": "south"}), 403, "forbidden")
    assert await ids(site.root) == [foreign.id, own.id]
    assert await ids(site.root, tenant="south") == [foreign.id]


async def test_by_state(site: Site):
    broken = await site.done("break", "vase")
    done = await site.done("greet", {"name": "n"})
    queued = await site.make("greet", {"name": "q"})
    scheduled = await site.make("greet", {"name": "later"}, delay=60)
    cancelled = await site.make("greet", {"name": "c"})
    await site.app.cancel(cancelled.id)
    async with working(site.app, "back"):
        waiting = await site.make("wait")
        await in_state(site.app, waiting, "waiting")
        running = await site.held()
        for client in (site.ann, site.root):
            assert await ids(client, state="failed") == [broken.id]
            assert await ids(client, state="succeeded") == [done.id]
            assert await ids(client, state="queued") == [scheduled.id, queued.id]
            assert await ids(client, state="cancelled") == [cancelled.id]
            assert await ids(client, state="waiting") == [waiting.id]
            assert await ids(client, state="running") == [running.id]
            assert await ids(client, state=["running", "queued"]) == [running.id, scheduled.id, queued.id]
            assert await ids(client, state=["running", "failed"]) == [running.id, broken.id]
            assert await ids(client, state=["succeeded", "failed"]) == [done.id, broken.id]
            assert await ids(client, state="failed", operation="break") == [broken.id]
            assert await ids(client, state="failed", operation="greet") == []
        assert await ids(site.bob, state=["running", "queued", "failed", "succeeded", "waiting"]) == []
        site.shop.gate.open()


async def test_by_operation_and_queue(site: Site):
    greet, hold = await site.make("greet", {"name": "n"}), await site.make("hold")
    assert await ids(site.ann, operation="hold") == [hold.id]
    assert await ids(site.ann, queue="front") == [greet.id]
    assert await ids(site.ann, queue="front", operation="hold") == []


async def test_by_parent_and_root(site: Site):
    family = await site.done("fan", {"children": 7})
    other = await site.done("greet", {"name": "n"})
    children = await ids(site.ann, parent=family.id, limit=3)
    assert len(children) == 7
    assert await ids(site.ann, root=family.id, limit=4) == [*children, family.id]
    assert await ids(site.ann, root=family.id.upper()) == [*children, family.id]
    assert await ids(site.ann, parent=other.id) == []
    assert await ids(site.bob, parent=family.id) == await ids(site.bob, root=family.id) == []


@pytest.mark.parametrize("few", [0, 1000])
async def test_a_family_too_large_to_be_gathered_is_found_all_the_same(site: Site, few: int, monkeypatch):
    """With the sizes turned down, so that the ways for large families are gone."""
    family = await site.done("fan", {"children": 12})
    for _ in range(5):
        await site.make("greet", {"name": "n"})
    expected = await ids(site.ann, parent=family.id)
    monkeypatch.setattr(id_sources, "_POOL", few)
    monkeypatch.setattr(id_sources, "_MOST_GROUPS", few)
    for client in (site.ann, site.root):
        assert await ids(client, parent=family.id, limit=5) == expected
        assert await ids(client, root=family.id, limit=5) == [*expected, family.id]
        assert len(await ids(client, state="queued")) == 5


async def test_by_time(site: Site):
    first, second = await site.make("greet", {"name": "1"}), await site.make("greet", {"name": "2"})
    rows = [await site.app.get(job.id) for job in (first, second)]
    moment = rows[1].created_at.isoformat()
    assert await ids(site.ann, created_after=moment) == [second.id]
    assert await ids(site.ann, created_before=moment) == [first.id]
    tomorrow = (rows[1].created_at + timedelta(days=1)).isoformat()
    assert await ids(site.ann, created_after=tomorrow) == []
    assert await ids(site.ann, created_before="1970-01-02T00:00:00Z") == []


async def test_by_text(site: Site):
    keyed = await site.make("greet", {"name": "n"}, key="Order-4711")
    broken = await site.done("break", "green_vase")
    plain = await site.make("hold")
    assert await ids(site.ann, text=plain.id) == [plain.id]
    assert plain.id in await ids(site.ann, text=plain.id[:9])
    assert keyed.id in await ids(site.ann, text=keyed.id[:13].upper())
    assert await ids(site.ann, text="order-47") == [keyed.id]
    assert await ids(site.ann, text="Order-4711") == [keyed.id]
    assert await ids(site.ann, text="GREEN_VASE is") == [broken.id]
    assert await ids(site.ann, text="eet") == [keyed.id]
    assert await ids(site.ann, text="%") == await ids(site.ann, text="green%vase") == []
    assert await ids(site.ann, text="greenxvase") == []
    assert await ids(site.bob, text=plain.id) == await ids(site.bob, text="order") == []


async def test_the_beginning_of_an_id_is_found_however_old_the_job(site: Site, monkeypatch):
    old = await site.make("greet", {"name": "n"})
    for _ in range(30):
        await site.make("hold")
    monkeypatch.setattr(listing, "MOST_EXAMINED", 5)
    assert (ok(await site.ann.get("/api/jobs", params={"text": old.id[:23]})))["items"][0]["id"] == old.id


async def test_a_sparse_filter_answers_short_pages_and_finds_everything_in_the_end(site: Site, monkeypatch):
    monkeypatch.setattr(listing, "MOST_EXAMINED", 10)
    wanted = []
    for number in range(45):
        job = await site.make("hold" if number % 20 == 0 else "greet", {"name": "n"})
        if number % 20 == 0:
            wanted.append(job.id)
    first = ok(await site.ann.get("/api/jobs", params={"operation": "hold", "limit": 2}))
    assert first["items"] == [] or len(first["items"]) < 2
    assert first["next"] is not None
    assert await ids(site.ann, operation="hold", limit=2) == wanted[::-1]


async def test_a_query_that_cannot_be_meant_is_refused(site: Site):
    for query in (
        {"state": "lost"}, {"limit": 0}, {"limit": 201}, {"after": "x"}, {"parent": "x"}, {"order": "oldest"},
        {"created_after": "yesterday"}, {"text": ""}, {"text": "a\x00b"}, {"operation": "not a name"}, {"tenant": ""},
        {"colour": "red"}, {"tenant": ["north", "south"]},
    ):  # fmt: skip
        problem(await site.root.get("/api/jobs", params=query), 422, "invalid")


async def test_counts_are_the_tenants_own_and_admins_get_all(site: Site):
    await site.done("break", "vase")
    await site.done("greet", {"name": "n"})
    await site.make("greet", {"name": "q"})
    await site.make("greet", {"name": "q"}, tenant="south")
    assert ok(await site.ann.get("/api/jobs/counts")) == {
        "queued": 1, "scheduled": 0, "running": 0, "waiting": 0, "succeeded_24h": 1, "partial_24h": 0, "failed_24h": 1,
        "cancelled_24h": 0, "capped": False,
    }  # fmt: skip
    everything = ok(await site.root.get("/api/jobs/counts"))
    assert (everything["queued"], everything["succeeded_24h"], everything["failed_24h"]) == (2, 1, 1)
    assert ok(await site.root.get("/api/jobs/counts", params={"tenant": "south"}))["queued"] == 1
    problem(await site.ann.get("/api/jobs/counts", params={"tenant": "south"}), 403, "forbidden")


async def test_jobs_whose_time_has_not_come_are_counted_apart(site: Site):
    await site.make("greet", {"name": "q"})
    await site.make("greet", {"name": "later"}, delay=3600)
    await site.make("greet", {"name": "later"}, delay=3600, tenant="south")
    own, everything = [ok(await one.get("/api/jobs/counts")) for one in (site.ann, site.root)]
    assert (own["queued"], own["scheduled"]) == (2, 1)
    assert (everything["queued"], everything["scheduled"]) == (3, 2)


async def test_counts_of_a_large_tenant_say_that_they_are_capped(site: Site, app: App, monkeypatch):
    from towpath.engine.asking import counting

    await site.done("break", "vase")
    waiting = await site.make("greet", {"name": "old"}, delay=60)
    for _ in range(6):
        await site.done("greet", {"name": "n"})
    monkeypatch.setattr(counting, "MOST_COUNTED", 4)
    found = ok(await site.ann.get("/api/jobs/counts"))
    assert found["capped"]
    assert (found["queued"], found["failed_24h"], found["succeeded_24h"]) == (1, 1, 4), waiting.id


async def test_counts_say_so_when_more_is_queued_than_can_be_looked_through(site: Site, monkeypatch):
    from towpath.engine.asking import counting

    for _ in range(6):
        await site.make("greet", {"name": "n"}, delay=60)
    monkeypatch.setattr(counting, "MOST_COUNTED", 4)
    monkeypatch.setattr(counting, "_POOL", 5)
    monkeypatch.setattr(counting, "_DAY", timedelta(0))  # all of them are older than that
    found = ok(await site.ann.get("/api/jobs/counts"))
    assert (found["queued"], found["capped"]) == (4, True)


async def test_states_are_asked_for_in_any_case(site: Site):
    queued, cancelled = await site.make("greet", {"name": "n"}), await site.make("greet", {"name": "n"})
    await site.app.cancel(cancelled.id)
    for written in ("queued", "QUEUED", "Queued", " queued"):
        assert await ids(site.ann, state=written) == [queued.id]
    assert await ids(site.ann, state=["QUEUED", "Cancelled"], order="NEWEST") == [cancelled.id, queued.id]
    problem(await site.ann.get("/api/jobs", params={"state": "que"}), 422, "invalid")
    done = ok(await site.ann.post("/api/jobs/bulk", json={"action": "CANCEL", "filter": {"state": ["QUEUED"]}}))
    assert done["done"] == 1
    events = ok(await site.ann.get(f"/api/jobs/{queued.id}/events", params={"level": "INFO"}))
    assert events["items"]


async def test_a_status_knows_no_waiting(site: Site):
    async with working(site.app):
        waiting = await site.make("wait")
        await in_state(site.app, waiting, "waiting")
        queued = await site.make("greet", {"name": "n"}, delay=3600)
        shown = {job["id"]: (job["state"], job["status"]) for job in ok(await site.ann.get("/api/jobs"))["items"]}
        assert shown == {waiting.id: ("waiting", "RUNNING"), queued.id: ("queued", "QUEUED")}
        assert ok(await site.ann.get(f"/api/jobs/{waiting.id}"))["status"] == "RUNNING"
        assert await ids(site.ann, status="running") == [waiting.id]
        assert await ids(site.ann, status=["QUEUED", "Running"]) == [queued.id, waiting.id]
        assert await ids(site.ann, status="SUCCEEDED") == []
    problem(await site.ann.get("/api/jobs", params={"status": "waiting"}), 422, "invalid")
    problem(await site.ann.get("/api/jobs", params={"status": "RUNNING", "state": "running"}), 422, "invalid")
