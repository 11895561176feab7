"""POST /api/jobs: only public operations, checked payloads, one job for an Idempotency-Key."""

import asyncio
from datetime import UTC, datetime, timedelta

from tests.server.api.site import Site, ok, problem
from towpath import App

GREETING = {"operation": "greet", "payload": {"name": "ann"}}
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def test_a_public_operation_can_be_asked_for(site: Site):
    response = await site.ann.post("/api/jobs", json=GREETING)
    job = ok(response, 201)
    assert response.headers["location"] == f"/api/jobs/{job['id']}"
    assert (job["operation"], job["queue"], job["tenant"], job["lane"], job["state"]) == (
        "greet", "front", "north", "north", "queued",
    )  # fmt: skip
    assert (await site.app.get(job["id"])).payload == {"name": "ann", "times": 1}


async def test_an_operation_that_is_not_public_is_refused_and_says_so(site: Site):
    document = problem(await site.ann.post("/api/jobs", json={"operation": "secret"}), 404, "not_found")
    assert "not public" in document["detail"]
    assert "greet" in document["remedy"]
    assert "no operation is named" in problem(
        await site.ann.post("/api/jobs", json={"operation": "unheard"}), 404, "not_found"
    )["detail"]  # fmt: skip


async def test_every_field_that_does_not_fit_is_told_with_its_path(site: Site):
    response = await site.ann.post("/api/jobs", json={"operation": "greet", "payload": {"name": "", "times": 99}})
    assert [error["path"] for error in problem(response, 422, "invalid")["errors"]] == ["payload.name", "payload.times"]
    response = await site.ann.post("/api/jobs", json={**GREETING, "prio": 1})
    assert [error["path"] for error in problem(response, 422, "invalid")["errors"]] == ["prio"]


async def test_options_that_cannot_be_are_refused(site: Site):
    for wrong in (
        {"priority": 4}, {"cost": 0}, {"delay": -1}, {"key": ""}, {"key": "a\x00b"}, {"run_at": "2030-01-01T00:00:00"},
        {"run_at": "9999-12-31T23:59:59-14:00"}, {"operation": "with space"},
    ):  # fmt: skip
        problem(await site.ann.post("/api/jobs", json=GREETING | wrong), 422, "invalid")


async def test_a_job_can_wait_for_its_time(site: Site):
    later = datetime.now(UTC) + timedelta(hours=1)
    job = ok(await site.ann.post("/api/jobs", json={**GREETING, "run_at": later.isoformat()}), 201)
    assert (job["state"], job["reason"]) == ("queued", "scheduled")
    assert datetime.fromisoformat(job["run_at"]) == later.replace(microsecond=later.microsecond // 1000 * 1000)
    assert ok(await site.ann.post("/api/jobs", json={**GREETING, "delay": 60}), 201)["run_at"]


async def test_coming_before_others_or_paying_less_needs_a_scope(site: Site):
    for wanted in ({"priority": 0}, {"cost": 0.5}):
        assert "'priority'" in problem(await site.ann.post("/api/jobs", json=GREETING | wanted), 403, "forbidden")["detail"]
        ok(await site.root.post("/api/jobs", json=GREETING | wanted), 201)
    ok(await site.ann.post("/api/jobs", json={**GREETING, "priority": 3, "cost": 2}), 201)


async def test_a_token_that_may_only_read_makes_nothing(site: Site):
    async with await site.person("ann", scopes=["read"]) as reader:
        problem(await reader.post("/api/jobs", json=GREETING), 403, "forbidden")
    problem(await site.nobody.post("/api/jobs", json=GREETING), 401, "unauthenticated")


async def test_only_admins_make_jobs_for_others(site: Site):
    problem(await site.ann.post("/api/jobs", json={**GREETING, "tenant": "south"}), 403, "forbidden")
    assert ok(await site.root.post("/api/jobs", json={**GREETING, "tenant": "south"}), 201)["tenant"] == "south"
    assert ok(await site.root.post("/api/jobs", json=GREETING), 201)["tenant"] == "harbour"


async def test_a_live_job_of_the_same_key_is_answered(site: Site):
    first = ok(await site.ann.post("/api/jobs", json={**GREETING, "key": "one"}), 201)
    again = ok(await site.ann.post("/api/jobs", json={**GREETING, "key": "one"}), 200)
    assert again["id"] == first["id"]
    other = ok(await site.bob.post("/api/jobs", json={**GREETING, "key": "one"}), 201)
    assert other["id"] != first["id"]


async def test_the_trace_of_the_request_goes_on_in_the_job(site: Site):
    job = ok(await site.ann.post("/api/jobs", json=GREETING, headers={"traceparent": TRACE}), 201)
    carried = (await site.app.get(job["id"])).trace
    assert carried is not None
    assert carried.split("-")[1] == TRACE.split("-")[1]
    odd = ok(await site.ann.post("/api/jobs", json=GREETING, headers={"traceparent": "nonsense"}), 201)
    assert (await site.app.get(odd["id"])).trace != "nonsense"


# -- Idempotency-Key


def key(name: str) -> dict[str, str]:
    return {"Idempotency-Key": name}


async def test_a_repeated_request_answers_the_same_job(site: Site):
    first = ok(await site.ann.post("/api/jobs", json=GREETING, headers=key("k")), 201)
    body = {"payload": {"name": "ann"}, "operation": "greet"}
    assert ok(await site.ann.post("/api/jobs", json=body, headers=key("k")), 200)["id"] == first["id"]


async def test_the_key_is_remembered_after_the_job_has_ended(site: Site):
    first = ok(await site.ann.post("/api/jobs", json=GREETING, headers=key("k")), 201)
    await site.app.cancel(first["id"])
    again = ok(await site.ann.post("/api/jobs", json=GREETING, headers=key("k")), 200)
    assert (again["id"], again["state"]) == (first["id"], "cancelled")


async def test_another_request_under_the_same_key_is_a_conflict_and_makes_nothing(site: Site):
    ok(await site.ann.post("/api/jobs", json=GREETING, headers=key("k")), 201)
    other = {**GREETING, "priority": 2}
    response = await site.ann.post("/api/jobs", json=other, headers=key("k"))
    assert "Idempotency-Key" in problem(response, 409, "conflict")["detail"]
    assert len(await site.app.list(tenant="north")) == 1


async def test_the_key_belongs_to_a_tenant_and_an_operation(site: Site):
    first = ok(await site.ann.post("/api/jobs", json=GREETING, headers=key("k")), 201)
    assert ok(await site.bob.post("/api/jobs", json=GREETING, headers=key("k")), 201)["id"] != first["id"]
    ok(await site.ann.post("/api/jobs", json={"operation": "hold", "payload": 1}, headers=key("k")), 201)


async def test_a_deleted_jobs_key_does_not_make_it_anew(site: Site):
    first = ok(await site.ann.post("/api/jobs", json=GREETING, headers=key("k")), 201)
    ok(await site.ann.delete(f"/api/jobs/{first['id']}"))
    assert "deleted" in problem(await site.ann.post("/api/jobs", json=GREETING, headers=key("k")), 409, "conflict")["detail"]


async def test_a_key_is_forgotten_after_a_day(site: Site):
    from towpath.engine.changing import idempotency

    first = ok(await site.ann.post("/api/jobs", json=GREETING, headers=key("k")), 201)
    ok(await site.ann.post("/api/jobs", json=GREETING, headers=key("fresh")), 201)
    await _age_key(site.app, "k")
    again = ok(await site.ann.post("/api/jobs", json=GREETING, headers=key("k")), 201)
    assert again["id"] != first["id"]
    await _age_key(site.app, "k")
    assert await idempotency.forget(site.app.services.store) == 1
    ok(await site.ann.post("/api/jobs", json=GREETING, headers=key("fresh")), 200)


async def _age_key(app: App, name: str) -> None:
    sqlite = app.url.startswith("sqlite")
    table, day = ("towpath_idempotency", "90000") if sqlite else ("towpath.idempotency", "interval '25 hours'")
    async with app.transaction() as tx:
        await tx.execute(f"UPDATE {table} SET created_at = created_at - {day} WHERE key = {'?' if sqlite else '$1'}", name)


async def test_equal_requests_at_the_same_time_make_one_job(site: Site):
    async def ask() -> tuple[int, str]:
        response = await site.ann.post("/api/jobs", json=GREETING, headers=key("race"))
        return response.status_code, response.json()["id"]

    answers = await asyncio.gather(*[ask() for _ in range(12)])
    assert len({job_id for _, job_id in answers}) == 1
    assert sorted(status for status, _ in answers) == [200] * 11 + [201]
    assert len(await site.app.list(tenant="north")) == 1


async def test_a_large_payload_is_stored_and_a_repeated_one_leaves_nothing_behind(site: Site):
    body = {"operation": "hold", "payload": "y" * 100_000}
    first = ok(await site.ann.post("/api/jobs", json=body, headers=key("large")), 201)
    ok(await site.ann.post("/api/jobs", json=body, headers=key("large")), 200)
    assert await site.app.payload(first["id"]) == "y" * 100_000
    assert len([blob async for blob in site.app.services.blobs.list("jobs")]) == 1


# -- ids of jobs in payloads


async def test_a_job_named_in_a_payload_must_be_the_tenants_own(site: Site):
    own, foreign = await site.make("greet", {"name": "a"}), await site.make("greet", {"name": "b"}, tenant="south")

    def body(*ids: str) -> dict:
        return {"operation": "follow", "payload": {"after": ids[0], "others": list(ids[1:])}}

    ok(await site.ann.post("/api/jobs", json=body(own.id, own.id)), 201)
    document = problem(await site.ann.post("/api/jobs", json=body(own.id, own.id, foreign.id)), 404, "not_found")
    assert document["errors"] == [{"path": "payload.others.1", "message": "no job has this id"}]
    missing = "00000000-0000-7000-8000-000000000000"
    same = problem(await site.ann.post("/api/jobs", json=body(own.id, own.id, missing)), 404, "not_found")
    assert same["errors"] == document["errors"]
    problem(await site.root.post("/api/jobs", json=body(foreign.id) | {"tenant": "north"}), 404, "not_found")
    ok(await site.root.post("/api/jobs", json=body(foreign.id) | {"tenant": "south"}), 201)
    wrong = problem(await site.ann.post("/api/jobs", json=body("no id at all")), 422, "invalid")
    assert wrong["errors"] == [{"path": "payload.after", "message": "this is not the id of a job"}]


async def test_an_edited_payload_is_checked_the_same_way(site: Site):
    job = await site.make("follow", {"after": (await site.make("greet", {"name": "a"})).id})
    foreign = await site.make("greet", {"name": "b"}, tenant="south")
    await site.app.cancel(job.id)
    edited = {"payload": {"after": foreign.id}}
    problem(await site.ann.post(f"/api/jobs/{job.id}/retry", json=edited), 404, "not_found")
    refused = ok(await site.ann.post("/api/inbox/requeue", json={"ids": [job.id], **edited}))
    assert list(refused["refused"]) == [job.id]
    assert (await site.app.get(job.id)).state == "cancelled"
