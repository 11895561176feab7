"""GET /api/jobs/{id} and what hangs on it: events, children, values to download."""

import json

import pytest

from tests.engine.working import AT_ONCE, in_state, working
from tests.server.api.site import Site, ok, problem
from towpath import Transient
from towpath.core.encoding import encode
from towpath.core.records import Step
from towpath.core.usage import Price
from towpath.store.journal import put_step

MISSING = "01890000-0000-7000-8000-000000000000"


async def test_a_job_comes_with_everything_about_it(site: Site):
    done = await site.done("greet", {"name": "n"}, key="k", trace="00-" + "1" * 32 + "-" + "2" * 16 + "-01")
    job = ok(await site.ann.get(f"/api/jobs/{done.id}"))
    assert (job["payload"], job["result"]) == ({"name": "n", "times": 1}, {"said": ["hello n"]})
    assert (job["state"], job["attempt"], job["fence"], job["failures"]) == ("succeeded", 1, 1, 0)
    assert job["explanation"]["sentence"] == "it has succeeded"
    assert (job["cost_cents"], job["tokens_in"], job["worker"], job["children"], job["progress"]) == (None,) * 5
    assert job["trace"].startswith("00-1")
    assert job["created_at"].endswith("Z")


async def test_an_unknown_id_and_something_that_is_no_id_are_not_found(site: Site):
    for job_id in (MISSING, "nonsense", "0", "%00"):
        problem(await site.ann.get(f"/api/jobs/{job_id}"), 404, "not_found")


async def test_a_waiting_place_and_the_worker_are_told(site: Site):
    first, second = await site.make("hold"), await site.make("hold")
    job = ok(await site.ann.get(f"/api/jobs/{second.id}"))
    assert (job["explanation"]["reason"], job["explanation"]["position"]) == ("no_worker", 1)
    async with working(site.app, "back", concurrency=1, name="the one"):
        await in_state(site.app, first, "running")
        assert ok(await site.ann.get(f"/api/jobs/{first.id}"))["worker"]["name"] == "the one"
        site.shop.gate.open()


async def test_a_failure_says_what_to_do(site: Site):
    job = ok(await site.ann.get(f"/api/jobs/{(await site.done('break', 'vase')).id}"))
    assert job["error"] == {
        "kind": "fatal", "error_class": "Fatal", "message": "the vase is broken", "remedy": "mend it",
    }  # fmt: skip
    assert (job["explanation"]["remedy"], job["attempt"]) == ("mend it", 1)


async def test_steps_come_in_order_and_what_is_unknown_is_null(site: Site):
    job = await site.make("greet", {"name": "n"})
    row = await site.app.get(job.id)

    async def unit(tx):
        await put_step(tx, row, Step(job.id, "free", "step", duration_ms=5.0))
        await put_step(tx, row, Step(job.id, "paid", "step", duration_ms=5.0, model="m", tokens_in=3, cost_cents=0.5))

    await site.app.services.store.run(unit)
    steps = ok(await site.ann.get(f"/api/jobs/{job.id}"))["steps"]
    assert [(step["name"], step["order"], step["cost_cents"]) for step in steps] == [("free", 1, None), ("paid", 2, 0.5)]
    assert steps[0]["started_at"] < steps[0]["created_at"]


async def test_the_cost_has_everything_that_was_used_for_the_job_inside_steps_and_outside(site: Site):
    @site.app.operation("think", queue="q", retry=AT_ONCE)
    async def think(ctx, _payload):
        await ctx.meter(model="large", tokens_in=1000, cost_cents=1.0)

        async def step():
            await ctx.meter(model="large", tokens_in=100, tokens_out=10, cost_cents=0.25)
            await ctx.meter(model="small", tokens_in=1_000_000)
            if ctx.attempt == 1:
                raise Transient("again")

        await ctx.step("write", step)

    def told(job):
        return job["cost_cents"], job["unpriced"], job["tokens_in"], job["tokens_out"]

    done = await site.done("think")
    other = await site.done("greet", {"name": "n"})
    assert told(ok(await site.ann.get(f"/api/jobs/{done.id}"))) == (2.5, True, 2_002_200, 20)
    await site.app.prices.put({"small": Price(100.0, 0.0), "large": Price(7.0, 7.0)})
    assert told(ok(await site.ann.get(f"/api/jobs/{done.id}"))) == (202.5, False, 2_002_200, 20)
    assert told(ok(await site.ann.get(f"/api/jobs/{other.id}"))) == (None, False, None, None)
    ok(await site.ann.delete(f"/api/jobs/{done.id}"))
    assert await site.app.services.store.read(lambda tx: tx.fetch("job_usage", job_id=done.id)) == []


async def test_events_come_in_pages_and_by_level(site: Site):
    done = await site.done("greet", {"name": "n"})
    path = f"/api/jobs/{done.id}/events"
    events = ok(await site.ann.get(path))
    assert [event["seq"] for event in events["items"]] == [1, 2, 3, 4, 5]
    assert events["next"] is None
    page = ok(await site.ann.get(path, params={"limit": 2}))
    assert page["next"] == "2"
    rest = ok(await site.ann.get(path, params={"after": page["next"]}))
    assert page["items"] + rest["items"] == events["items"]
    loud = ok(await site.ann.get(path, params={"level": "warning"}))
    assert [event["name"] for event in loud["items"]] == ["greeting.odd"]
    for query in ({"after": -1}, {"level": "loud"}, {"limit": 1001}, {"kind": "x"}):
        problem(await site.ann.get(path, params=query), 422, "invalid")
    problem(await site.ann.get(f"/api/jobs/{MISSING}/events"), 404, "not_found")


async def test_children_come_in_pages_and_by_state(site: Site):
    family = await site.done("fan", {"children": 5, "fail": True})
    path = f"/api/jobs/{family.id}/children"
    first = ok(await site.ann.get(path, params={"limit": 3}))
    rest = ok(await site.ann.get(path, params={"limit": 3, "after": first["next"]}))
    assert len({child["id"] for child in first["items"] + rest["items"]}) == 5
    assert rest["next"] is None
    assert len(ok(await site.ann.get(path, params={"state": "failed"}))["items"]) == 5
    assert ok(await site.ann.get(path, params={"state": "succeeded"}))["items"] == []
    job = ok(await site.ann.get(f"/api/jobs/{family.id}"))
    assert job["children"] == {"total": 5, "open": 0, "succeeded": 0, "partial": 0, "failed": 5}


async def test_large_values_are_left_out_and_can_be_downloaded(site: Site):
    large = await site.done("long", 300_000)
    job = ok(await site.ann.get(f"/api/jobs/{large.id}"))
    assert (job["payload"], job["payload_truncated"]) == (300_000, False)
    assert (job["result"], job["result_truncated"]) == (None, True)
    middle = await site.done("long", 100_000)  # too large for the row, small enough for an answer
    assert ok(await site.ann.get(f"/api/jobs/{middle.id}"))["result"] == "x" * 100_000
    for done, size in ((large, 300_000), (middle, 100_000)):
        download = await site.ann.get(f"/api/jobs/{done.id}/result")
        assert download.headers["content-disposition"] == f'attachment; filename="result-{done.id}.json"'
        assert download.headers["content-type"] == "application/json"
        assert download.text == encode("x" * size)
    assert (await site.ann.get(f"/api/jobs/{large.id}/payload")).text == "300000"


async def test_a_job_without_a_result_has_none_to_download(site: Site):
    job = await site.make("greet", {"name": "n"})
    assert "no result" in problem(await site.ann.get(f"/api/jobs/{job.id}/result"), 404, "not_found")["detail"]


async def test_a_value_whose_blob_is_gone_is_not_half_an_answer(site: Site):
    large = await site.done("long", 300_000)
    await site.app.services.blobs.delete_prefix(f"jobs/{large.id}")
    response = await site.ann.get(f"/api/jobs/{large.id}/result")
    assert response.status_code >= 400
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("levels", [201, 256, 900, 3_000])
async def test_a_job_with_values_that_are_nested_too_deeply_is_shown_without_them(site: Site, levels: int):
    """There are such from before depth was bounded, and from somebody's own SQL."""
    job = await site.make("greet", {"name": "n"})
    text = "[" * levels + "]" * levels

    async def unit(tx):
        one, two, table = ("?", "?", "towpath_job") if tx.dialect == "sqlite" else ("$1", "$2", "towpath.job")
        await tx.fetch_sql(f"UPDATE {table} SET payload = {one} WHERE id = {two} RETURNING id", text, job.id)

    await site.app.services.store.run(unit)
    shown = ok(await site.ann.get(f"/api/jobs/{job.id}"))
    assert (shown["payload"], shown["payload_truncated"]) == (None, True)
    assert (await site.ann.get(f"/api/jobs/{job.id}/payload")).text == text


async def test_a_payload_that_is_nested_too_deeply_is_refused(site: Site):
    deep = json.loads("[" * 201 + "]" * 201)
    told = problem(await site.ann.post("/api/jobs", json={"operation": "greet", "payload": deep}), 422, "invalid")
    assert "200 levels" in told["detail"]
    job = await site.make("hold")
    problem(await site.ann.post(f"/api/jobs/{job.id}/signal", json={"name": "go", "payload": deep}), 422, "invalid")
