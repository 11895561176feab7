"""Single requests at LOCAL: they are gathered until their time has come, and this installation's own workers ask them."""

from dataclasses import replace
from datetime import timedelta

from tests.engine.working import ended, on_sqlite, working
from tests.models.wire_server import WireServer
from tests.products.batches.desk import opened_desk
from tests.products.batches.test_here import echo
from tests.server.api.site import ok
from towpath import App, Price, Settings
from towpath.testing import FakeClock, drain

QUEUES = ("batches", "batches.requests", "batches.care")


async def test_each_has_its_own_answer_and_what_it_cost(database_url: str, settings: Settings):
    with WireServer() as wire:
        wire.always = echo
        chatting = replace(settings, chat_url=wire.url, chat_model="m", gather_requests=2)
        async with opened_desk(App(database_url, settings=chatting)) as desk, working(desk.app, *QUEUES):
            await desk.app.prices.put({"m": Price(100_000.0, 200_000.0)})
            jobs = []
            for say in ("a", "b"):
                asked = {"body": {"messages": [{"role": "user", "content": say}]}}
                jobs.append(ok(await desk.ann.post("/api/batches/requests", json=asked), 202)["job_id"])
            results = [(await ended(desk.app, job_id)).result for job_id in jobs]
            [batch] = ok(await desk.ann.get("/api/batches"))["items"]
            found = await desk.done(batch["id"])
    assert [one["response"]["choices"][0]["message"]["content"] for one in results] == ["A", "B"]
    assert (found["provider"], found["ok"], found["title"]) == ("LOCAL", 2, "2 requests")
    assert sum(one["cost_cents"] for one in results) == found["cost_cents"] > 0


@on_sqlite
async def test_it_goes_out_when_the_first_has_waited_its_time_and_not_before(database_url: str, settings: Settings):
    with WireServer() as wire:
        wire.always = echo
        chatting = replace(settings, chat_url=wire.url, chat_model="m", gather_seconds=600.0)
        clock = FakeClock()
        async with opened_desk(App(database_url, settings=chatting, clock=clock)) as desk:
            asked = {"body": {"messages": [{"role": "user", "content": "a"}]}}
            job_id = ok(await desk.ann.post("/api/batches/requests", json=asked), 202)["job_id"]
            begun = await desk.app.now()
            await drain(desk.app)
            due = (await desk.app.explain(job_id)).until
            assert due is not None
            assert 600 <= (due - begun).total_seconds() < 660
            clock.advance(due - await desk.app.now() - timedelta(seconds=5))
            await drain(desk.app)
            assert ((await desk.app.get(job_id)).state, wire.asked) == ("waiting", [])
            clock.advance(timedelta(seconds=5))
            await drain(desk.app)
            assert (await desk.app.get(job_id)).state == "succeeded"
    assert len(wire.asked) == 1
