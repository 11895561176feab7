"""The inbox: failures by cause, and the way back for one, a group or all of them."""

import pytest

from tests.engine.working import ended, working
from tests.server.api.site import Site, ok, problem
from towpath.engine.asking import causes
from towpath.server.counts import forget
from towpath.server.routes import inbox


async def fail(site: Site, *payloads: object, tenant: str = "north") -> list[str]:
    jobs = await site.app.enqueue_many({"operation": "break", "payload": one, "tenant": tenant} for one in payloads)
    async with working(site.app):
        return [(await ended(site.app, job)).id for job in jobs]


async def test_failures_of_one_cause_are_one_group(site: Site):
    vases, [cup] = await fail(site, 1, 22, 333), await fail(site, "cup")
    await fail(site, 4444, tenant="south")
    page = ok(await site.ann.get("/api/inbox"))
    assert [(group["message"], group["jobs"]) for group in page["items"]] == [
        ("the … is broken", 3), ("the cup is broken", 1),
    ]  # fmt: skip
    assert (page["next"], page["capped"]) == (None, False)
    first = page["items"][0]
    assert (first["operation"], first["kind"], first["example"] in vases) == ("break", "fatal", True)
    assert (len(first["trend"]), first["trend"][-1]) == (24, 3)
    query = {name: first[name] for name in ("operation", "kind", "message")}
    jobs = ok(await site.ann.get("/api/inbox/jobs", params={**query, "limit": 2}))
    rest = ok(await site.ann.get("/api/inbox/jobs", params={**query, "limit": 2, "after": jobs["next"]}))
    assert [job["id"] for job in jobs["items"] + rest["items"]] == vases[::-1]
    assert cup in {job["id"] for job in ok(await site.ann.get("/api/inbox/jobs"))["items"]}


async def test_admins_see_the_failures_of_all_tenants_or_of_one(site: Site):
    await fail(site, 1)
    await fail(site, 2, 3, tenant="south")
    assert ok(await site.root.get("/api/inbox"))["items"][0]["jobs"] == 3
    assert ok(await site.root.get("/api/inbox", params={"tenant": "south"}))["items"][0]["jobs"] == 2
    problem(await site.ann.get("/api/inbox", params={"tenant": "south"}), 403, "forbidden")
    problem(await site.ann.get("/api/inbox/jobs", params={"tenant": "south"}), 403, "forbidden")


async def test_a_parent_that_failed_for_its_children_is_not_listed(site: Site):
    async with working(site.app):
        family = await ended(site.app, await site.make("fan", {"children": 2, "fail": True}))
    assert family.state == "failed"
    assert family.id not in {job["id"] for job in ok(await site.ann.get("/api/inbox/jobs"))["items"]}
    assert sum(group["jobs"] for group in ok(await site.ann.get("/api/inbox"))["items"]) == 2


async def test_requeue_by_id_by_group_and_all(site: Site):
    vases, [cup], [foreign] = await fail(site, 1, 2), await fail(site, "cup"), await fail(site, 3, tenant="south")

    async def requeue(**body: object) -> dict:
        return ok(await site.ann.post("/api/inbox/requeue", json=body))

    assert await requeue(ids=[cup, foreign]) == {
        "requeued": 1, "refused": {foreign: "not found"}, "remaining": False, "next": None,
    }  # fmt: skip
    assert (await requeue(message="the … is broken"))["requeued"] == 2
    assert {(await site.app.get(one)).state.value for one in [*vases, cup]} == {"queued"}
    async with working(site.app):
        for one in [*vases, cup]:
            await ended(site.app, one)
    assert (await requeue(all=True))["requeued"] == 3
    assert (await site.app.get(foreign)).state == "failed"


async def test_an_edited_payload_goes_to_all_that_are_requeued(site: Site):
    vases = await fail(site, 1, 2)
    answer = ok(await site.ann.post("/api/inbox/requeue", json={"all": True, "payload": "mended"}))
    assert answer["requeued"] == 2
    assert [await site.app.payload(one) for one in vases] == ["mended", "mended"]


async def test_many_failures_take_several_requests(site: Site, monkeypatch):
    monkeypatch.setattr(inbox, "BATCH", 2)
    await fail(site, *range(5))
    body, done, rounds = {"all": True}, 0, 0
    while True:
        answer = ok(await site.ann.post("/api/inbox/requeue", json=body))
        done, rounds, body["after"] = done + answer["requeued"], rounds + 1, answer["next"]
        if not answer["remaining"]:
            break
    assert (done, rounds) == (5, 3)


async def test_more_failures_than_are_grouped_are_told(site: Site, monkeypatch):
    monkeypatch.setattr(causes, "MOST_GROUPED", 2)
    await fail(site, 1, 2, 3)
    page = ok(await site.ann.get("/api/inbox"))
    assert (page["capped"], page["items"][0]["jobs"]) == (True, 2)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_request_that_does_not_say_which_ones_is_refused(site: Site):
    some = "01890000-0000-7000-8000-000000000000"
    for body in ({}, {"all": False}, {"ids": [some], "all": True}, {"ids": [some], "kind": "fatal"}, {"everything": True}):
        problem(await site.ann.post("/api/inbox/requeue", json=body), 422, "invalid")


async def test_a_dismissed_group_is_back_when_it_fails_once_more(site: Site):
    await fail(site, "torn")
    [group] = ok(await site.ann.get("/api/inbox"))["items"]
    chosen = {name: group[name] for name in ("operation", "kind", "message")}
    assert (await site.ann.post("/api/inbox/dismiss", json=chosen)).status_code == 204
    page = ok(await site.ann.get("/api/inbox"))
    assert (page["items"], page["dismissed"]) == ([], 1)
    [hidden] = ok(await site.ann.get("/api/inbox", params={"dismissed": "true"}))["items"]
    assert hidden == group | {"dismissed": True}
    assert len(ok(await site.root.get("/api/inbox"))["items"]) == 1  # it is still there for others
    assert (await site.ann.post("/api/inbox/restore", json=chosen)).status_code == 204
    assert ok(await site.ann.get("/api/inbox"))["items"] == [group]
    assert (await site.ann.post("/api/inbox/dismiss", json=chosen)).status_code == 204
    await fail(site, "torn")
    forget(site.app)
    [back] = ok(await site.ann.get("/api/inbox"))["items"]
    assert (back["jobs"], back["dismissed"]) == (2, False)
