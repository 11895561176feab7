"""What failed is tried again: one item, many, those of one cause, from the run or from the inbox; and runs are stopped."""

from __future__ import annotations

from typing import Any

from tests.extraction import papers
from tests.products.documents.library import TEXT, Library
from tests.server.api.site import ok, problem

LOCKED = papers.pdf("x", password="secret")
BROKEN = b"%PDF-1.4\nnothing more"


async def _failed(library: Library) -> tuple[Any, dict[str, Any]]:
    """A run of five: two have a password, two are broken, one is read."""
    run, items = await library.finished(
        ("a.pdf", LOCKED), ("b.pdf", LOCKED + b"\n"), ("c.pdf", BROKEN), ("d.pdf", BROKEN + b"\n"), ("e.txt", TEXT)
    )
    assert (run["status"], run["counts"]["FAILED"]) == ("PARTIAL", 4)
    return run, {item["name"][0]: item for item in items}


async def _attempted(library: Library, run_id: str) -> list[str]:
    """Names of items that were tried more than once."""
    again = []
    for item in await library.items(run_id):
        begun = [one for one in await library.events(item) if one["name"] == "job.started"]
        again += [item["name"][0]] * (len(begun) > 1)
    return again


async def test_failures_are_retried_by_item_by_cause_and_all_together(library: Library) -> None:
    run, items = await _failed(library)
    path = f"/api/documents/runs/{run['id']}"
    causes = ok(await library.ann.get(f"{path}/causes"))["causes"]
    assert sorted(one["items"] for one in causes) == [2, 2]
    assert {one["category"] for one in causes} == {"schema_invalid"}
    async with library.working():
        one = await library.ann.post(f"{path}/retry", json={"items": [items["a"]["id"]]})
        assert ok(one, 202) == {"retried": 1, "refused": {}}
        await library.done(run["id"])
        assert await _attempted(library, run["id"]) == ["a"]
        [broken] = [one["cause"] for one in causes if "password" not in one["message"]]
        assert ok(await library.ann.post(f"{path}/retry", json={"cause": broken}), 202)["retried"] == 2
        await library.done(run["id"])
        assert await _attempted(library, run["id"]) == ["a", "c", "d"]
        assert ok(await library.ann.post(f"{path}/retry", json={}), 202)["retried"] == 4
        run = await library.done(run["id"])
    assert await _attempted(library, run["id"]) == ["a", "b", "c", "d"]
    assert (run["status"], run["counts"]["FAILED"], run["counts"]["COMPLETED"]) == ("PARTIAL", 4, 1)


async def test_the_inbox_groups_them_by_cause_and_requeues_a_group(library: Library) -> None:
    run, _ = await _failed(library)
    groups = ok(await library.ann.get("/api/inbox"))["items"]
    assert sorted(one["jobs"] for one in groups) == [2, 2]
    [locked] = [one for one in groups if "password" in one["message"]]
    async with library.working():
        group = {name: locked[name] for name in ("operation", "kind", "message")}
        assert ok(await library.ann.post("/api/inbox/requeue", json=group))["requeued"] == 2
        await library.done(run["id"])
    assert await _attempted(library, run["id"]) == ["a", "b"]


async def test_what_was_wrong_with_a_setting_is_set_right_and_goes_on_where_it_failed(library: Library) -> None:
    """A service that nobody may ask was named for a step; with none, this installation does it."""
    wrong = {"remote": {"CHUNKED": "https://localhost:9/step"}}
    run, [item] = await library.finished(("canal.txt", TEXT), settings=wrong)
    assert (item["status"], item["error"]["step"]) == ("FAILED", "CHUNKED")
    right = {"settings": {"remote": {"CHUNKED": None}}}
    async with library.working():
        assert ok(await library.ann.post(f"/api/documents/runs/{run['id']}/retry", json=right), 202)["retried"] == 1
        run = await library.done(run["id"])
    assert run["status"] == "COMPLETED"
    [item] = await library.items(run["id"])
    events = await library.events(item)
    started = [one["step"] for one in events if one["kind"] == "step_started"]
    assert started.count("CHUNKED") == 2
    assert all(started.count(step) == 1 for step in ("FETCHED", "CONTENT_EXTRACTED", "ENTITY_EXTRACTED"))
    assert len(await library.found("barges")) == 1


async def test_a_run_is_stopped_and_goes_on_when_it_is_retried(library: Library) -> None:
    run_id = await library.make(*((f"{number}.txt", f"{number} {TEXT}") for number in range(3)))
    path = f"/api/documents/runs/{run_id}"
    assert len(ok(await library.ann.post(f"{path}/cancel"))["cancelled"]) >= 1
    run = await library.run(run_id)
    assert (run["status"], run["counts"]["CANCELLED"], run["counts"]["PENDING"]) == ("CANCELLED", 3, 0)
    assert {one["status"] for one in await library.items(run_id)} == {"CANCELLED"}
    assert len(await library.items(run_id, status="CANCELLED")) == 3
    assert ok(await library.ann.post(f"{path}/retry", json={"settings": {"embed": False}}), 202)["retried"] == 3
    async with library.working():
        run = await library.done(run_id)
        assert ok(await library.ann.post(f"{path}/retry", json={}), 202)["retried"] == 0
    assert (run["status"], run["counts"]["COMPLETED"]) == ("COMPLETED", 3)
    [first, *_] = await library.items(run_id)
    assert (await library.document(first))["embedded"] is None


async def test_somebody_elses_run_is_not_there(library: Library) -> None:
    run, items = await library.finished(("canal.txt", TEXT))
    for path in ("", "/items", f"/items/{items[0]['id']}", f"/items/{items[0]['id']}/events", "/causes"):
        problem(await library.bob.get(f"/api/documents/runs/{run['id']}{path}"), 404, "not_found")
    for path in ("/retry", "/cancel"):
        problem(await library.bob.post(f"/api/documents/runs/{run['id']}{path}", json={}), 404, "not_found")
    assert (await library.bob.get(f"/api/documents/{items[0]['document_id']}")).status_code == 404
    assert await library.found("barges", tenant="south") == []
