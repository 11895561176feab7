"""Requests that come one by one, as jobs of their own: together they are one batch, and each has its own answer."""

from dataclasses import replace

import pytest

from tests.engine.working import ended, eventually, in_state, on_sqlite, working
from tests.products.batches.desk import Desk, EchoProvider, opened_desk
from tests.server.api.site import ok, problem
from towpath import App, Context, Fatal, Retry, Transaction, batches
from towpath.batches.names import ASK, COMPLETE
from towpath.providers.simulator import Pace

LATER = 3600.0
FOR_EVER = 1_000_000


@pytest.fixture
def settings(settings):
    return replace(settings, gather_requests=3, gather_seconds=LATER)


def at_work(app: App, concurrency: int = 4):
    return working(app, "batches", "batches.requests", "batches.care", "default", concurrency=concurrency)


async def ask(desk: Desk, say: str, *, by=None, status: int = 202, headers=None, **more) -> str:
    body = {"provider": "SCRIPTED", "model": "m1", "body": {"say": say} | more.pop("extra", {})} | more
    return ok(await (by or desk.ann).post("/api/batches/requests", json=body, headers=headers), status)["job_id"]


async def listed(desk: Desk, by=None) -> list[dict]:
    return ok(await (by or desk.ann).get("/api/batches"))["items"]


async def has_joined(desk: Desk, *job_ids: str) -> None:
    for job_id in job_ids:
        row = await in_state(desk.app, job_id, "waiting")
        assert row.reason == "signal"


async def test_as_many_as_make_a_batch_go_out_as_one_and_each_has_its_own_answer(desk: Desk, provider: EchoProvider):
    jobs = [await ask(desk, f"q{number}") for number in range(3)]
    async with at_work(desk.app):
        rows = [await ended(desk.app, job_id) for job_id in jobs]
        [batch] = await listed(desk)
        found = await desk.done(batch["id"])
    assert [row.result["response"] for row in rows] == [{"echo": f"q{number}", "by": "m1"} for number in range(3)]
    assert {row.result["batch_id"] for row in rows} == {batch["id"]}
    assert (found["status"], found["title"], found["count"], found["ok"]) == ("COMPLETED", "3 requests", 3, 3)
    assert len(provider.ledger.paid) == 1
    assert sorted(line["custom_id"] for line in await desk.results(batch["id"])) == sorted(jobs)


async def test_what_is_there_goes_out_when_the_first_has_waited_long_enough(database_url, settings, provider):
    async with opened_desk(App(database_url, settings=replace(settings, gather_seconds=0.3)), provider) as desk:
        async with at_work(desk.app):
            jobs = [await ask(desk, "a"), await ask(desk, "b")]
            rows = [await ended(desk.app, job_id) for job_id in jobs]
        assert [row.result["response"]["echo"] for row in rows] == ["a", "b"]
        assert len(provider.ledger.paid) == len(await listed(desk))


async def test_so_many_bytes_make_a_batch_too(database_url, settings, provider):
    few = replace(settings, gather_bytes=1000, gather_requests=0)
    async with opened_desk(App(database_url, settings=few), provider) as desk:
        async with at_work(desk.app):
            small = await ask(desk, "small")
            await has_joined(desk, small)
            large = await ask(desk, "x" * 1000)
            assert (await ended(desk.app, small)).result["response"]["echo"] == "small"
            assert (await ended(desk.app, large)).state == "succeeded"
            alone = await ask(desk, "y" * 1000)
            assert (await ended(desk.app, alone)).state == "succeeded"
        assert len(provider.ledger.paid) == 2


async def test_what_differs_in_tenant_model_or_window_never_shares_an_order(desk: Desk, provider: EchoProvider):
    async with at_work(desk.app):
        jobs = [
            await ask(desk, "north"), await ask(desk, "south", by=desk.bob), await ask(desk, "other", model="m2"),
            await ask(desk, "soon", window="4h"), await ask(desk, "north too"),
        ]  # fmt: skip
        await has_joined(desk, *jobs)
        assert len(await listed(desk)) == 3
        [souths] = await listed(desk, desk.bob)
        await in_state(desk.app, souths["job_id"], "waiting")  # it may have been queued still
        [souths] = await listed(desk, desk.bob)
        assert (souths["status"], souths["waiting_for"], souths["tenant"]) == ("PENDING", "requests", "south")
        third = await ask(desk, "north for three")
        assert (await ended(desk.app, third)).state == "succeeded"
        assert not (await desk.app.get(jobs[1])).ended
    problem(await desk.bob.get(f"/api/batches/{(await desk.app.result(third))['batch_id']}"), 404, "not_found")


async def test_many_that_ask_at_once_fill_each_batch_and_no_more(database_url, settings, provider):
    async with opened_desk(App(database_url, settings=replace(settings, gather_requests=10)), provider) as desk:
        jobs = await desk.app.enqueue_many(
            {
                "operation": ASK,
                "payload": {"provider": "SCRIPTED", "model": "m1", "body": {"say": str(n)}},
                "tenant": "north",
            }
            for n in range(60)
        )
        async with at_work(desk.app, 8), at_work(desk.app, 8):
            rows = [await ended(desk.app, job.id, 60) for job in jobs]
        assert [row.result["response"]["echo"] for row in rows] == [str(n) for n in range(60)]
        assert len(provider.ledger.paid) == 6
        assert {one["count"] for one in await listed(desk)} == {10}


async def test_the_error_of_one_request_is_that_of_its_job_alone_and_another_try_goes_into_another_batch(
    desk: Desk, provider: EchoProvider
):
    bad = (await desk.app.enqueue(
        ASK, {"provider": "SCRIPTED", "model": "m1", "body": {"say": "b", "fail": True}}, tenant="north", max_attempts=2
    )).id  # fmt: skip
    async with at_work(desk.app):
        good = [await ask(desk, "a"), await ask(desk, "c")]
        for job_id in good:
            assert (await ended(desk.app, job_id)).state == "succeeded"
        await eventually(lambda: _tried_again(desk, bad))
        more = [await ask(desk, "d"), await ask(desk, "e")]
        row = await ended(desk.app, bad)
        assert (row.state, row.error["message"], row.failures) == ("failed", "it did not work", 2)
        for job_id in more:
            assert (await ended(desk.app, job_id)).state == "succeeded"
        ids = {(await desk.app.result(job_id))["batch_id"] for job_id in (*good, *more)}
        assert len(ids) == 2
        for batch_id in ids:
            assert (await desk.done(batch_id))["status"] == "PARTIAL_COMPLETE"
    assert len(provider.ledger.paid) == 2


async def _tried_again(desk: Desk, job_id: str) -> bool:
    row = await desk.app.get(job_id)
    return row.failures == 1 and row.state == "waiting"


async def test_one_that_is_cancelled_while_it_waits_is_not_sent(desk: Desk, provider: EchoProvider):
    async with at_work(desk.app):
        first = await ask(desk, "never mind")
        await has_joined(desk, first)
        await desk.app.cancel(first)
        jobs = [await ask(desk, "a"), await ask(desk, "b")]
        assert [(await ended(desk.app, job_id)).result["response"]["echo"] for job_id in jobs] == ["a", "b"]
        [batch] = await listed(desk)
        assert (await desk.done(batch["id"]))["count"] == 2
        await desk.app.requeue(first)
        more = [await ask(desk, "c"), await ask(desk, "d")]
        assert (await ended(desk.app, first)).result["response"]["echo"] == "never mind"
        assert [(await ended(desk.app, job_id)).state for job_id in more] == ["succeeded"] * 2
    assert len(provider.ledger.paid) == 2


async def test_if_all_are_cancelled_nothing_is_sent(desk: Desk, provider: EchoProvider):
    async with at_work(desk.app):
        jobs = [await ask(desk, f"q{number}") for number in range(2)]
        await has_joined(desk, *jobs)
        for job_id in jobs:
            await desk.app.cancel(job_id)
        [batch] = await listed(desk)
        last = await ask(desk, "q3")
        assert (await ended(desk.app, last)).state == "succeeded"
        assert (await desk.done(batch["id"]))["count"] == 1
    assert len(provider.ledger.paid) == 1


async def test_one_that_is_cancelled_while_its_batch_is_at_the_provider_takes_nobody_along(
    desk: Desk, provider: EchoProvider
):
    provider.simulator.pace = Pace(FOR_EVER)
    async with at_work(desk.app):
        jobs = [await ask(desk, f"q{number}") for number in range(3)]
        await eventually(lambda: provider.ledger.paid)
        await desk.app.cancel(jobs[0])
        for ordered in provider.simulator.jobs.values():
            ordered.looks = FOR_EVER
        rows = [await ended(desk.app, job_id) for job_id in jobs]
    assert [row.state for row in rows] == ["cancelled", "succeeded", "succeeded"]
    assert len(provider.ledger.paid) == 1


@pytest.mark.parametrize("when", ["while it gathers", "at the provider"])
@pytest.mark.parametrize("how", ["batch", "job", "deleted"])
async def test_whoever_waits_for_a_batch_that_is_stopped_hears_of_it(
    desk: Desk, provider: EchoProvider, when: str, how: str
):
    provider.simulator.pace = Pace(FOR_EVER)
    async with at_work(desk.app):
        jobs = [await ask(desk, f"q{number}") for number in range(2 if when == "while it gathers" else 3)]
        if when == "while it gathers":
            await has_joined(desk, *jobs)
        else:
            await eventually(lambda: provider.ledger.paid)
        [batch] = await listed(desk)
        if how == "batch":
            ok(await desk.ann.post(f"/api/batches/{batch['id']}/cancel"))
        elif how == "job":
            await desk.app.cancel(batch["job_id"] or (await desk.get(batch["id"]))["job_id"])
        else:
            ok(await desk.ann.delete(f"/api/batches/{batch['id']}"))
        rows = [await ended(desk.app, job_id) for job_id in jobs]
    assert {row.state for row in rows} == {"failed"}
    assert all("its batch was" in row.error["message"] for row in rows)
    assert {row.failures for row in rows} == {1}, "whoever stops it does not want it sent again at once"


async def test_a_batch_that_fails_as_a_whole_is_told_to_all_and_can_be_asked_again_by_its_jobs(
    desk: Desk, provider: EchoProvider
):
    provider.refuses.add("m1")
    async with at_work(desk.app):
        jobs = [
            (await desk.app.enqueue(ASK, {"provider": "SCRIPTED", "model": "m1", "body": {"say": str(n)}}, tenant="north",
                                    max_attempts=1)).id
            for n in range(3)
        ]  # fmt: skip
        rows = [await ended(desk.app, job_id) for job_id in jobs]
        assert all(row.state == "failed" and "no model m1" in row.error["message"] for row in rows)
        [batch] = await listed(desk)
        assert (await desk.done(batch["id"]))["status"] == "FAILED"
        problem(await desk.ann.post(f"/api/batches/{batch['id']}/retry"), 409, "conflict")
        provider.refuses.clear()
        for job_id in jobs:
            await desk.app.requeue(job_id)
        assert [(await ended(desk.app, job_id)).state for job_id in jobs] == ["succeeded"] * 3
    assert len(provider.ledger.paid) == 1


async def test_an_operation_of_ones_own_asks_twice_and_goes_on_with_both_answers(database_url, settings, provider):
    app = App(database_url, settings=replace(settings, gather_requests=1))
    batches.attach(app)

    @app.operation("chat", queue="default")
    async def chat(ctx: Context, say: str) -> list[str]:
        first = await batches.ask(ctx, provider="scripted", model="m1", body={"say": say})
        second = await batches.ask(
            ctx, provider="SCRIPTED", model="m1", body={"say": first.response["echo"] * 2}, key="more"
        )
        return [first.response["echo"], second.response["echo"]]

    async with opened_desk(app, provider) as desk, at_work(app):
        job = await app.enqueue("chat", "la", tenant="north")
        assert (await ended(app, job)).result == ["la", "lala"]
        assert len(provider.ledger.paid) == 2
        assert len(await listed(desk)) == 2


async def test_an_edited_payload_is_asked_anew_and_an_answer_is_asked_for_once(database_url, settings, provider):
    app = App(database_url, settings=replace(settings, gather_requests=1))
    batches.attach(app)
    fails = [True]

    @app.operation("chat", queue="default", retry=Retry(limit=1))
    async def chat(ctx: Context, say: str) -> str:
        answer = await batches.ask(ctx, provider="SCRIPTED", model="m1", body={"say": say})
        if fails:
            raise Fatal("not today")
        return answer.response["echo"]

    async with opened_desk(app, provider), at_work(app):
        job = await app.enqueue("chat", "la", tenant="north")
        assert (await ended(app, job)).state == "failed"
        fails.clear()
        await app.requeue(job.id)
        assert (await ended(app, job)).result == "la"
        assert len(provider.ledger.paid) == 1, "what was answered is not asked again"
        other = await app.enqueue("chat", "lo", tenant="north")
        assert (await ended(app, other)).result == "lo"
        fails.append(True)
        third = await app.enqueue("chat", "li", tenant="north")
        assert (await ended(app, third)).state == "failed"
        fails.clear()
        await app.requeue(third.id, payload="lu")
        assert (await ended(app, third)).result == "lu"


async def test_explain_says_how_many_wait_and_until_when(desk: Desk):
    async with at_work(desk.app):
        jobs = [await ask(desk, f"q{number}") for number in range(2)]
        await has_joined(desk, *jobs)
        told = await desk.app.explain(jobs[0])
        assert told.sentence.startswith("it waits for its batch of 2 to be sent, at the latest at ")
        assert told.until is not None
        assert told.until > await desk.app.now()
        [batch] = await listed(desk)
        await in_state(desk.app, batch["job_id"], "waiting")
        assert (await desk.app.explain(batch["job_id"])).sentence.startswith(
            "it has 2 requests, and waits for more to be sent"
        )
        assert (await desk.get(batch["id"]))["status"] == "PENDING"


async def test_explain_names_the_batch_that_the_request_went_out_with(desk: Desk, provider: EchoProvider):
    provider.simulator.pace = Pace(FOR_EVER)
    async with at_work(desk.app):
        jobs = [await ask(desk, f"q{number}") for number in range(3)]
        await eventually(lambda: provider.ledger.paid)
        [batch] = await listed(desk)
        assert (
            await desk.app.explain(jobs[0])
        ).sentence == f"its request went out with batch {batch['id']}, and waits for the answer"


@on_sqlite
async def test_a_repeated_key_answers_the_same_job_and_another_request_under_it_is_refused(desk: Desk):
    key = {"Idempotency-Key": "k1"}
    first = await ask(desk, "a", headers=key)
    assert await ask(desk, "a", headers=key, status=200) == first
    body = {"provider": "SCRIPTED", "model": "m1", "body": {"say": "b"}}
    problem(await desk.ann.post("/api/batches/requests", json=body, headers=key), 409, "conflict")
    assert await ask(desk, "a", headers=key, by=desk.bob) != first


@on_sqlite
@pytest.mark.parametrize(
    "body",
    [
        {}, {"provider": "SCRIPTED", "body": {"say": "a"}}, {"provider": "SCRIPTED", "model": "m1", "body": {}},
        {"provider": "SCRIPTED", "model": "m1", "body": []}, {"provider": "NOBODY", "model": "m1", "body": {"say": "a"}},
        {"model": "m1", "body": {"say": "a"}},
        {"provider": "SCRIPTED", "model": "m1", "body": {"say": "a"}, "window": "soon"},
    ],
)  # fmt: skip
async def test_what_cannot_be_asked_is_refused_before_there_is_a_job(desk: Desk, body):
    problem(await desk.ann.post("/api/batches/requests", json=body), 422, "invalid")
    assert [job for job in await desk.app.list() if job.operation in (ASK, COMPLETE)] == []


async def test_hundreds_of_answers_come_back_in_one_transaction(database_url, settings, provider, monkeypatch):
    async with opened_desk(App(database_url, settings=replace(settings, gather_requests=250)), provider) as desk:
        app, sent = desk.app, []
        really = Transaction.signal_many

        async def counted(tx, signals):
            given = list(signals)
            sent.append(sum(name == "batches.answer" for _, name, _ in given))
            return await really(tx, given)

        monkeypatch.setattr(Transaction, "signal_many", counted)
        jobs = await app.enqueue_many(
            {
                "operation": ASK,
                "payload": {"provider": "SCRIPTED", "model": "m1", "body": {"say": str(n)}},
                "tenant": "north",
            }
            for n in range(250)
        )
        async with at_work(app, 16):
            rows = [await ended(app, job.id, 90) for job in jobs]
        assert [row.result["response"]["echo"] for row in rows] == [str(n) for n in range(250)]
        assert sorted(count for count in sent if count) == [50, 200]
