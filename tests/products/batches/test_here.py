"""LOCAL: the same batch on our own workers, request by request, at any chat endpoint."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from itertools import count
from threading import Event
from typing import Any

import pytest

from tests.engine.working import eventually, on_sqlite
from tests.models.wire_server import Answer, Asked, WireServer
from tests.products.batches.desk import Desk, opened_desk
from tests.server.api.site import ok
from towpath import App, ConfigurationError, Context, Price, Settings, Transient
from towpath.batches.answering import AT_ONCE
from towpath.batches.completing import Completing, local_limits
from towpath.batches.records import Batch
from towpath.providers.catalog import PROVIDERS, Entry
from towpath.server import attach
from towpath.testing import FakeClock, drain


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        yield server


@pytest.fixture
async def desk(database_url: str, settings: Settings, wire: WireServer) -> AsyncIterator[Desk]:
    """On a clock that jumps over every wait, where the database has one."""
    chatting = replace(settings, chat_url=wire.url, chat_model="m")
    clock = {"clock": FakeClock()} if database_url.startswith("sqlite") else {}
    async with opened_desk(App(database_url, settings=chatting, **clock)) as desk:
        yield desk


def asks(name: str) -> dict[str, Any]:
    return {"custom_id": name, "body": {"messages": [{"role": "user", "content": name}], "model": "ignored"}}


def said(asked: Asked) -> str:
    return str(asked.json()["messages"][0]["content"])


def echo(asked: Asked) -> Answer:
    choice = {"message": {"content": said(asked).upper()}, "finish_reason": "stop"}
    return Answer({"model": "m-2026", "choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})


async def finished(desk: Desk, names: list[str], **more: Any) -> dict[str, Any]:
    batch_id = await desk.make([asks(name) for name in names], provider="local", models=[], **more)
    return await worked_on(desk, batch_id)


async def worked_on(desk: Desk, batch_id: str) -> dict[str, Any]:
    if desk.app.url.startswith("sqlite"):
        await drain(desk.app)
        return await desk.get(batch_id)
    async with desk.working():
        return await desk.done(batch_id)


async def test_the_default_install_answers_a_batch_with_any_chat_endpoint(desk: Desk, wire: WireServer):
    wire.always = echo
    await desk.app.prices.put({"m": Price(1_000_000, 1_000_000)})
    names = [f"n{number}" for number in range(130)]
    found = await finished(desk, names)
    assert (found["status"], found["provider"], found["models"]) == ("COMPLETED", "LOCAL", ["m"])
    assert (found["ok"], found["done"], found["total"], found["cost_cents"]) == (130, 130, 130, 1300.0)
    lines = await desk.results(found["id"])
    assert [line["custom_id"] for line in lines] == names
    assert [line["response"]["choices"][0]["message"]["content"] for line in lines] == [name.upper() for name in names]
    children = await desk.app.list(parent=found["job_id"])
    assert sorted(ok_result(child) for child in children) == [30, 100]
    assert {asked.json()["model"] for asked in wire.asked} == {"m"}
    assert found["provider_state"] is None


@on_sqlite
async def test_answers_are_counted_while_others_are_waited_for(database_url: str, settings: Settings, wire: WireServer):
    goes_on = Event()

    def slowly(asked: Asked) -> Answer:
        if said(asked) != "n0":
            goes_on.wait(60)
        return echo(asked)

    wire.always = slowly
    app = App(database_url, settings=replace(settings, chat_url=wire.url, chat_model="m"))
    async with opened_desk(app) as desk, desk.working():
        batch_id = await desk.make([asks(f"n{number}") for number in range(20)], provider="local", models=[])

        async def is_counted() -> bool:
            found = await desk.get(batch_id)
            return (found["status"], found["done"], found["total"]) == ("IN_PROGRESS", 1, 20)

        try:
            await eventually(is_counted)
        finally:
            goes_on.set()
        assert (await desk.done(batch_id))["ok"] == 20


async def test_what_has_been_answered_stays_counted_while_it_is_merged(
    desk: Desk, wire: WireServer, monkeypatch: pytest.MonkeyPatch
):
    wire.always = echo
    seen: list[tuple[int, int]] = []
    merge = Completing._merge

    async def looked_at(self: Completing, ctx: Context, batch: Batch, *rest: Any) -> dict[str, Any]:
        found = await desk.get(batch.id)
        seen.append((found["done"], found["total"]))
        return await merge(self, ctx, batch, *rest)

    monkeypatch.setattr(Completing, "_merge", looked_at)
    await finished(desk, [f"n{number}" for number in range(130)])
    assert seen == [(130, 130)]


def ok_result(job) -> int:
    return job.result["ok"]


async def test_what_one_request_is_refused_for_is_its_own_and_a_429_loses_nothing(desk: Desk, wire: WireServer):
    seen: Counter[str] = Counter()

    def moody(asked: Asked) -> Answer:
        name = said(asked)
        seen[name] += 1
        if name == "bad":
            return Answer({"error": {"message": "the context is too long"}}, status=400)
        if name == "slow" and seen[name] == 1:
            return Answer({"error": {"message": "slow down"}}, status=429, headers={"Retry-After": "0"})
        if name == "down" and seen[name] < 3:
            return Answer({"error": {"message": "restarting"}}, status=503)
        return echo(asked)

    wire.always = moody
    found = await finished(desk, ["a", "bad", "slow", "down"])
    assert (found["status"], found["ok"], found["failed"]) == ("PARTIAL_COMPLETE", 3, 1)
    lines = await desk.results(found["id"])
    assert "the context is too long" in lines[1]["error"]["message"]
    assert (seen["a"], seen["bad"], seen["slow"], seen["down"]) == (1, 1, 2, 3), "what was answered is not asked again"


async def test_a_wrong_key_fails_the_batch_in_words_and_a_retry_asks_again(desk: Desk, wire: WireServer):
    wire.always = lambda asked: Answer({"error": {"message": "who are you"}}, status=401)
    found = await finished(desk, ["a", "b"])
    assert (found["status"], found["failed"]) == ("FAILED", 2)
    assert "who are you" in found["error"]
    wire.always = echo
    again = ok(await desk.ann.post(f"/api/batches/{found['id']}/retry"), 202)
    assert (await worked_on(desk, again["id"]))["status"] == "COMPLETED"


def expiring_from(number: int) -> Callable[[Asked], Answer]:
    """A service whose key is no longer good from so many requests on."""
    numbers = count(1)

    def answer(asked: Asked) -> Answer:
        if next(numbers) >= number:
            return Answer({"error": {"message": "the key has expired"}}, status=401)
        return echo(asked)

    return answer


async def test_a_key_that_expires_in_the_middle_loses_nothing_that_was_answered(desk: Desk, wire: WireServer):
    wire.always = expiring_from(20)
    names = [f"n{number}" for number in range(60)]
    found = await finished(desk, names)
    assert (found["status"], found["ok"], found["failed"]) == ("PARTIAL_COMPLETE", 19, 41)
    lines = await desk.results(found["id"])
    assert [line["custom_id"] for line in lines] == names
    answered = {line["custom_id"] for line in lines if line["error"] is None}
    assert len(answered) == 19
    assert all("the key has expired" in line["error"]["message"] for line in lines if line["error"] is not None)
    assert len(wire.asked) < 20 + AT_ONCE, "whoever comes after the first 401 is not asked"
    before, wire.always = len(wire.asked), echo
    assert ok(await desk.ann.post("/api/inbox/requeue", json={"all": True}))["requeued"] == 1
    found = await worked_on(desk, found["id"])
    assert (found["status"], found["ok"], found["done"]) == ("COMPLETED", 60, 60)
    assert sorted(answered | {said(asked) for asked in wire.asked[before:]}) == sorted(names)
    assert len(wire.asked) - before == 41, "what was answered is not asked again"


@on_sqlite
async def test_a_retry_after_a_key_expired_asks_only_what_was_not_answered(desk: Desk, wire: WireServer):
    wire.always = expiring_from(10)
    found = await finished(desk, [f"n{number}" for number in range(30)])
    before, wire.always = len(wire.asked), echo
    again = ok(await desk.ann.post(f"/api/batches/{found['id']}/retry"), 202)
    found = await worked_on(desk, again["id"])
    assert (found["status"], found["count"], len(wire.asked) - before) == ("COMPLETED", 21, 21)


async def test_without_a_chat_service_it_is_refused_when_it_is_sent(database_url: str, settings: Settings):
    async with opened_desk(App(database_url, settings=settings)) as desk:
        refused = await desk.send([asks("a")], provider="local", models=["m"])
        assert ok(await desk.ann.get("/api/batches"))["items"] == []
        assert await desk.blobs() == [], "nothing is stored for it"
    told = refused.json()
    assert (refused.status_code, told["errors"][0]["path"]) == (422, "provider")
    assert "there is none" in told["detail"]
    assert "TOWPATH_CHAT_URL" in told["remedy"]


async def test_workers_without_a_chat_service_say_what_to_set(database_url: str, settings: Settings, wire: WireServer):
    """They may be set up in another way than the server that took the batch."""
    async with opened_desk(App(database_url, settings=replace(settings, chat_url=wire.url))) as desk:
        batch_id = await desk.make([asks("a")], provider="LOCAL", models=["m"])
        async with attach(App(database_url, settings=settings)) as other:
            await drain(other)
        found = await desk.get(batch_id)
    assert (found["status"], wire.asked) == ("FAILED", [])
    assert "LOCAL asks the chat service" in found["error"]


@on_sqlite
async def test_whoever_comes_after_a_crash_between_two_steps_ends_the_batch(
    desk: Desk, wire: WireServer, monkeypatch: pytest.MonkeyPatch
):
    """What an attempt had written before it died is written again, and what was answered is not asked again."""
    wire.always = echo
    died: list[str] = []
    kind = type(desk.app.blobs)
    whole = kind.put

    async def dying(self, key, data):
        stored = await whole(self, key, data)
        name = key.rsplit("/", 1)[1]
        if key.startswith("batches/") and name not in died:
            died.append(name)
            raise Transient(f"it died when it had written {name}")
        return stored

    monkeypatch.setattr(kind, "put", dying)
    found = await finished(desk, ["a", "b"])
    assert (found["status"], found["ok"]) == ("COMPLETED", 2)
    assert died == ["index.jsonl", "requests.jsonl", "shard-0-0.jsonl", "answers-0-0.jsonl", "results.jsonl"]
    assert len(wire.asked) == 2


@on_sqlite
async def test_a_provider_that_cannot_be_made_here_is_said_in_words(desk: Desk):
    def broken():
        raise ConfigurationError("its library is not installed: pip install 'towpath[acme]'")

    desk.app.provider("ACME", broken)
    entry = {"ACME": Entry("acme", "Acme", "acme", frozenset({"completion"}), "Acme's batches")}
    PROVIDERS.update(entry)
    try:
        batch_id = await desk.make([asks("a")], provider="acme", models=["m"])
        told = ok(await desk.ann.get("/api/providers"))["providers"]
        assert {"LOCAL", "ACME"} <= {one["name"] for one in told}
        assert (await desk.nobody.post("/api/providers/ACME/callback", json={})).status_code == 404
        await drain(desk.app)
    finally:
        PROVIDERS.pop("ACME")
    found = await desk.get(batch_id)
    assert (found["status"], "pip install" in found["error"]) == ("FAILED", True)


async def test_a_batch_that_failed_with_its_children_is_one_line_of_the_inbox_and_comes_back_with_them(
    desk: Desk, wire: WireServer
):
    wire.always = lambda asked: Answer({"error": {"message": "no such key"}}, status=401)
    found = await finished(desk, ["a", "b"])
    assert found["status"] == "FAILED"
    assert "no such key" in found["error"]
    [line] = ok(await desk.ann.get("/api/inbox"))["items"]
    assert (line["operation"], line["jobs"]) == ("batches.answer", 1)
    [child] = ok(await desk.ann.get("/api/inbox/jobs"))["items"]
    assert child["subject"] == {"kind": "batch", "id": found["id"]}
    wire.always = echo
    assert ok(await desk.ann.post("/api/inbox/requeue", json={"all": True}))["requeued"] == 1
    found = await worked_on(desk, found["id"])
    assert (found["status"], found["ok"], found["error"]) == ("COMPLETED", 2, None)
    assert [line["error"] for line in await desk.results(found["id"])] == [None, None]
    assert [key for key in await desk.blobs() if "/work/" in key] == []


@pytest.mark.parametrize(
    ("lines", "slots", "each"),
    [(0, 1, 100), (150, 1, 100), (2_000, 2, 250), (2_000, 20, 100), (10_000, 4, 500), (1_000_000, 16, 500)],
)
def test_a_child_asks_so_much_that_all_slots_are_busy_and_few_gaps_are_between(lines: int, slots: int, each: int):
    assert local_limits(lines, slots).count == each


async def test_a_batch_is_cut_for_the_slots_that_there_are(desk: Desk, wire: WireServer):
    wire.always = echo
    batch_id = await desk.make([asks(f"r{number}") for number in range(900)], provider="local", models=[])
    async with desk.working(concurrency=1):
        assert (await desk.done(batch_id))["ok"] == 900
    children = await desk.app.list(operation="batches.answer")
    assert sorted(job.progress_total for job in children) == [225, 225, 225, 225]
