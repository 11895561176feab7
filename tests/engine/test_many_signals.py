"""What many wait for and one finds out: signals to all of them at once, last words, and who says why they wait."""

from datetime import timedelta

import pytest

from tests.engine.working import ended, happened, history, in_state, working
from towpath import App, Context, Fatal, JobNotFound, Reading, SchemaInvalid, Settings, Transaction, Why


@pytest.fixture
async def app(database_url, tmp_path):
    app = App(database_url, settings=Settings(blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.2))

    @app.operation("ask")
    async def ask(ctx: Context, name: str):
        return await ctx.wait_for(name)

    @app.operation("fail")
    async def fail(ctx: Context):
        raise Fatal("it came to nothing")

    @app.operation("tell")
    async def tell(ctx: Context, payload: dict):
        return payload["who"]

    @app.explains("answer")
    async def why(now: Reading, job) -> Why | None:
        return Why(f"job {job.id} waits for its turn", now.now + timedelta(minutes=1))

    async with app:
        yield app


def signals(*given):
    async def unit(tx: Transaction) -> list[str]:
        return await tx.signal_many(given)

    return unit


async def waiting(app: App, count: int, name: str = "answer") -> list[str]:
    jobs = await app.enqueue_many({"operation": "ask", "payload": name} for _ in range(count))
    for job in jobs:
        await in_state(app, job, "waiting")
    return [job.id for job in jobs]


async def test_each_of_many_gets_its_own_payload(app):
    async with working(app):
        jobs = await waiting(app, 20)
        reached = await app.transact(signals(*[(job_id, "answer", {"n": n}) for n, job_id in enumerate(jobs)]))
        assert sorted(reached) == sorted(jobs)
        assert [(await ended(app, job_id)).result for job_id in jobs] == [{"n": n} for n in range(20)]
    for name in ("job.signalled", "step.completed"):
        assert len(await happened(app, jobs[0], name)) == 1


async def test_what_comes_before_anybody_waits_is_kept_and_the_oldest_is_taken_first(app):
    job = await app.enqueue("ask", "answer")
    await app.transact(signals((job.id, "answer", 1), (job.id, "answer", 2), (job.id, "other", 3)))
    async with working(app):
        assert (await ended(app, job)).result == 1
    await history(app, job)


async def test_a_signal_that_nobody_waits_for_wakes_and_is_not_the_answer(app):
    async with working(app):
        [job_id] = await waiting(app, 1)
        await app.transact(signals((job_id, "other", 1)))
        await in_state(app, job_id, "waiting")
        await app.transact(signals((job_id, "answer", 2)))
        assert (await ended(app, job_id)).result == 2


async def test_what_has_ended_or_is_not_there_is_passed_over_and_nothing_is_nothing(app):
    job = await app.enqueue("ask", "answer")
    await app.cancel(job.id)
    nobody = "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60"
    assert await app.transact(signals((job.id, "answer", 1), (nobody, "answer", 1))) == []
    assert await app.transact(signals()) == []


async def test_nothing_is_sent_if_the_transaction_fails(app):
    async with working(app):
        [job_id] = await waiting(app, 1)

        async def unit(tx: Transaction) -> None:
            await tx.signal_many([(job_id, "answer", 1)])
            raise SchemaInvalid("not so", path="x")

        with pytest.raises(SchemaInvalid):
            await app.transact(unit)
        assert (await app.get(job_id)).state == "waiting"


@pytest.mark.parametrize("how", ["fails", "cancelled", "removed"])
async def test_a_last_word_is_spoken_by_whatever_ends_the_job_in_vain(app, how):
    async def unit(tx: Transaction) -> str:
        job_id = await tx.enqueue("fail" if how == "fails" else "ask", "answer" if how != "fails" else None)
        await tx.leave_word(job_id, "tell", {"who": "the others"}, tenant="north")
        return job_id

    job_id = await app.transact(unit)
    assert await app.list(operation="tell") == []
    async with working(app):
        if how == "fails":
            assert (await ended(app, job_id)).state == "failed"
        elif how == "cancelled":
            await app.cancel(job_id)
        else:
            await app.remove([job_id])
        [word] = await app.list(operation="tell")
        assert (await ended(app, word)).result == "the others"
        assert word.tenant == "north"


async def test_a_job_that_succeeds_leaves_no_word_and_one_that_has_ended_takes_none(app):
    async def unit(tx: Transaction) -> str:
        job_id = await tx.enqueue("ask", "answer")
        await tx.leave_word(job_id, "tell", {"who": "nobody"})
        await tx.signal_many([(job_id, "answer", "fine")])
        return job_id

    async with working(app):
        job_id = await app.transact(unit)
        assert (await ended(app, job_id)).result == "fine"
    assert await app.list(operation="tell") == []

    async def too_late(tx: Transaction) -> None:
        await tx.leave_word(job_id, "tell", {"who": "nobody"})

    with pytest.raises(JobNotFound, match="has ended"):
        await app.transact(too_late)


async def test_whoever_sends_a_signal_may_say_why_it_is_waited_for(app):
    async with working(app):
        [job_id] = await waiting(app, 1)
        [other] = await waiting(app, 1, "something")
        [part] = await waiting(app, 1, "answer:2")
        told = await app.explain(job_id)
        assert (told.sentence, told.until > await app.now()) == (f"job {job_id} waits for its turn", True)
        assert (await app.explain(part)).sentence == f"job {part} waits for its turn"
        assert (await app.explain(other)).sentence == "it waits for the signal 'something'"
