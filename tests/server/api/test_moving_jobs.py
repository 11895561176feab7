"""Cancel, retry, signal, priority and delete of one job."""

import pytest

from tests.engine.working import ended, eventually, happened, history, in_state, working
from tests.server.api.site import Site, ok, problem
from towpath import Job, JobNotFound
from towpath.engine.changing import deleting

MISSING = "01890000-0000-7000-8000-000000000000"


# -- cancel


async def test_a_cancel_tells_what_it_cancelled_and_what_it_was_doing(site: Site):
    job = await site.make("greet", {"name": "n"})
    assert ok(await site.ann.post(f"/api/jobs/{job.id}/cancel")) == {"cancelled": [job.id], "was": "queued"}
    assert ok(await site.ann.post(f"/api/jobs/{job.id}/cancel")) == {"cancelled": [], "was": "cancelled"}
    [event] = await happened(site.app, job, "job.cancelled")
    assert event.message == "cancelled by ann"


async def test_children_that_have_not_ended_are_cancelled_too(site: Site):
    async with working(site.app, "back"):
        family = await site.make("fan", {"children": 3})
        await in_state(site.app, family, "waiting")
    done = ok(await site.ann.post(f"/api/jobs/{family.id}/cancel"))
    children = [child.id for child in await site.app.list(parent=family.id)]
    assert sorted(done["cancelled"]) == sorted([family.id, *children])
    assert done["was"] == "waiting"


async def test_a_running_handler_is_interrupted(site: Site):
    async with working(site.app):
        job = await site.held()
        assert ok(await site.ann.post(f"/api/jobs/{job.id}/cancel"))["was"] == "running"
        assert (await ended(site.app, job)).state == "cancelled"


# -- retry


async def test_a_failed_job_gets_a_fresh_start_with_or_without_a_new_payload(site: Site):
    job = await site.done("break", "vase")
    again = ok(await site.ann.post(f"/api/jobs/{job.id}/retry"))
    assert (again["id"], again["state"], again["error"]) == (job.id, "queued", None)
    async with working(site.app):
        await in_state(site.app, job, "failed")
    ok(await site.ann.post(f"/api/jobs/{job.id}/retry", json={"payload": "cup"}))
    assert await site.app.payload(job.id) == "cup"


async def test_what_the_app_itself_makes_is_retried_as_it_is_by_everybody_but_administrators(site: Site):
    """The payload of an operation that is not public was never meant to come from outside."""
    job = await site.make("secret")
    await site.app.cancel(job.id)
    address = f"/api/jobs/{job.id}/retry"
    problem(await site.ann.post(address, json={"payload": {"of": "somebody else"}}), 403, "forbidden")
    requeue = {"ids": [job.id], "payload": {"of": "somebody else"}}
    refused = ok(await site.ann.post("/api/inbox/requeue", json=requeue))["refused"]
    assert "only administrators" in refused[job.id]
    assert await site.app.payload(job.id) is None
    ok(await site.ann.post(address))
    await site.app.cancel(job.id)
    ok(await site.root.post(address, json={"payload": {"mended": True}}))
    assert await site.app.payload(job.id) == {"mended": True}


async def test_what_cannot_be_retried_is_a_conflict(site: Site):
    job = await site.make("greet", {"name": "n"})
    problem(await site.ann.post(f"/api/jobs/{job.id}/retry", json={}), 409, "conflict")
    await site.app.cancel(job.id)
    wrong = problem(await site.ann.post(f"/api/jobs/{job.id}/retry", json={"payload": {"name": 7}}), 422, "invalid")
    assert wrong["errors"][0]["path"] == "payload.name"
    problem(await site.ann.post(f"/api/jobs/{MISSING}/retry"), 404, "not_found")


# -- signal


async def test_a_signal_reaches_the_job_that_waits_for_it(site: Site):
    async with working(site.app):
        job = await site.make("wait")
        await in_state(site.app, job, "waiting")
        ok(await site.ann.post(f"/api/jobs/{job.id}/signal", json={"name": "go", "payload": {"n": 1}}))
        assert await site.app.result(job.id, timeout=20) == {"n": 1}
    problem(await site.ann.post(f"/api/jobs/{job.id}/signal", json={"name": "go"}), 409, "conflict")
    problem(await site.ann.post(f"/api/jobs/{job.id}/signal", json={"name": ""}), 422, "invalid")
    problem(await site.ann.post(f"/api/jobs/{MISSING}/signal", json={"name": "go"}), 404, "not_found")


# -- priority


async def test_a_queued_jobs_priority_can_be_changed(site: Site):
    first, second = await site.make("hold"), await site.make("hold")
    assert ok(await site.ann.patch(f"/api/jobs/{first.id}", json={"priority": 2}))["priority"] == 2
    [event] = await happened(site.app, first, "job.reprioritized")
    assert event.fields == {"priority": 2, "was": 1}
    assert ok(await site.ann.get(f"/api/jobs/{second.id}"))["explanation"]["position"] == 0


async def test_coming_first_needs_a_scope(site: Site):
    job = await site.make("hold")
    problem(await site.ann.patch(f"/api/jobs/{job.id}", json={"priority": 0}), 403, "forbidden")
    assert ok(await site.root.patch(f"/api/jobs/{job.id}", json={"priority": 0}))["priority"] == 0
    problem(await site.ann.patch(f"/api/jobs/{job.id}", json={"priority": 4}), 422, "invalid")
    problem(await site.ann.patch(f"/api/jobs/{job.id}", json={}), 422, "invalid")


async def test_a_job_that_has_begun_or_ended_keeps_its_priority(site: Site):
    async with working(site.app):
        job = await site.held()
        problem(await site.ann.patch(f"/api/jobs/{job.id}", json={"priority": 2}), 409, "conflict")
        site.shop.gate.open()
        await ended(site.app, job)
    problem(await site.ann.patch(f"/api/jobs/{job.id}", json={"priority": 2}), 409, "conflict")
    await history(site.app, job)


# -- delete


async def gone(site: Site, job: Job) -> bool:
    try:
        await site.app.get(job.id)
    except JobNotFound:
        return True
    return False


async def test_an_ended_tree_is_deleted_as_a_whole(site: Site):
    family = await site.done("fan", {"children": 3})
    [child, *_] = await site.app.list(parent=family.id)
    why = problem(await site.ann.delete(f"/api/jobs/{child.id}"), 409, "conflict")["detail"]
    assert family.id in why
    assert ok(await site.ann.delete(f"/api/jobs/{family.id}")) == {"deleted": 4}
    problem(await site.ann.delete(f"/api/jobs/{family.id}"), 404, "not_found")


async def test_a_live_child_is_not_cancelled_by_a_delete_that_is_refused(site: Site):
    async with working(site.app, "back"):
        family = await site.make("fan", {"children": 2})
        await in_state(site.app, family, "waiting")
    [child, *_] = await site.app.list(parent=family.id)
    problem(await site.ann.delete(f"/api/jobs/{child.id}"), 409, "conflict")
    assert (await site.app.get(child.id)).state == "queued"


async def test_a_queued_job_is_cancelled_and_deleted(site: Site):
    job = await site.make("greet", {"name": "n"})
    assert ok(await site.ann.delete(f"/api/jobs/{job.id}")) == {"deleted": 1}
    assert await gone(site, job)


async def test_a_running_job_is_deleted_when_its_handler_has_ended(site: Site):
    async with working(site.app):
        job = await site.held()
        assert ok(await site.ann.delete(f"/api/jobs/{job.id}")) == {"deleted": 1}
        assert await gone(site, job)


async def test_a_handler_that_does_not_end_is_waited_for_only_so_long(site: Site, monkeypatch):
    monkeypatch.setattr(deleting, "PATIENCE", 0.2)
    async with working(site.app):
        job = await site.held("stubborn")
        why = problem(await site.ann.delete(f"/api/jobs/{job.id}"), 409, "conflict")["detail"]
        assert "has not ended yet" in why
        assert (await site.app.get(job.id)).state == "cancelled"
        site.shop.gate.open()

        async def let_go() -> bool:
            return not (await site.app.get(job.id)).leased

        await eventually(let_go)
        assert ok(await site.ann.delete(f"/api/jobs/{job.id}")) == {"deleted": 1}


@pytest.mark.parametrize("verb", ["cancel", "retry", "signal"])
async def test_a_token_that_may_only_read_moves_nothing(site: Site, verb: str):
    job = await site.make("greet", {"name": "n"})
    async with await site.person("ann", scopes=["read"]) as reader:
        body = {"name": "go"} if verb == "signal" else {}
        problem(await reader.post(f"/api/jobs/{job.id}/{verb}", json=body), 403, "forbidden")
        problem(await reader.delete(f"/api/jobs/{job.id}"), 403, "forbidden")
        problem(await reader.patch(f"/api/jobs/{job.id}", json={"priority": 2}), 403, "forbidden")
