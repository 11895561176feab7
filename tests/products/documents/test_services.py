"""Steps that services do, through real HTTP: what becomes of a document for each thing that a service may answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.engine.working import eventually
from tests.models.wire_server import Answer, WireServer
from tests.products.documents.library import TEXT, Library, opened_library
from tests.products.documents.services import METER, OUTPUT, Service, envelope, refusal
from tests.server.api.site import ok, problem
from towpath import App, Retry, Settings, documents
from towpath.documents import http_step
from towpath.documents.names import READ

STEP = "TRANSLATED"
BUSY = Answer({"error": "busy"}, 503)
PATIENCE = Answer({"error": "slowly"}, 429, {"retry-after": "0"})


@dataclass(frozen=True)
class Case:
    answers: tuple[Answer, ...]
    status: str = "COMPLETED"
    category: str | None = None
    """Of the failure that the inbox shows."""
    calls: int = 1
    attempt: int = 1
    failures: tuple[str, ...] = ()
    """Categories, as its events have them."""


CASES = {
    "works": Case((envelope(),)),
    "busy-once": Case((BUSY, envelope()), calls=2, attempt=2, failures=("transient",)),
    "busy-always": Case((BUSY,), "FAILED", "transient", 5, 5, ("transient",) * 5),
    "no-json": Case((Answer(b"<html>starting</html>"), envelope()), calls=2, attempt=2, failures=("transient",)),
    "patience": Case((PATIENCE, PATIENCE, envelope()), calls=3, failures=()),
    "bad-request": Case((Answer({"error": "what is this"}, 422),), "FAILED", "schema_invalid", failures=("schema_invalid",)),
    "not-there": Case((Answer({"error": "no such page"}, 404),), "FAILED", "fatal", failures=("fatal",)),
    "no-envelope": Case((Answer({"words": 3}),), "FAILED", "schema_invalid", failures=("schema_invalid",)),
    "says-transient": Case((refusal("Transient"), envelope()), calls=2, attempt=2, failures=("transient",)),
    "says-limited": Case((refusal("RateLimited", retry_after=0), envelope()), calls=2),
    "says-invalid": Case((refusal("SchemaInvalid"),), "FAILED", "schema_invalid", failures=("schema_invalid",)),
    "says-fatal": Case((refusal("fatal"),), "FAILED", "fatal", failures=("fatal",)),
}


@pytest.fixture
def service() -> Iterator[Service]:
    with WireServer() as wire:
        yield Service(wire)


@pytest.fixture
async def library(database_url: str, settings: Settings, service: Service) -> AsyncIterator[Library]:
    """With a service that does a step; and nobody waits between two tries, only their number matters."""
    app = App(database_url, settings=settings)
    documents.attach(app)
    documents.add_step(app, STEP, http_step(service.url))
    async with opened_library(app) as library:
        reading = app.services.registry.get(READ)
        assert reading is not None
        reading.retry = Retry(limit=5, base=0.0)
        yield library


async def test_every_answer_of_a_service_has_the_reaction_of_its_category(library: Library, service: Service) -> None:
    for word, case in CASES.items():
        service.lay(word, *case.answers)
    run, items = await library.finished(*((f"{word}.txt", f"{word} {TEXT}") for word in CASES))
    assert run["status"] == "PARTIAL"
    for item in items:
        word = item["name"].removesuffix(".txt")
        case = CASES[word]
        error = item["error"] or {"category": None, "step": None, "message": ""}
        assert (item["status"], error["category"], service.calls[word], item["attempt"]) == (
            case.status, case.category, case.calls, case.attempt
        ), (word, error)  # fmt: skip
        assert error["step"] == (STEP if case.category else None)
        events = await library.events(item)
        assert tuple(one["category"] for one in events if one["kind"] == "step_failed") == case.failures, word
        limited = [one for one in events if one["name"] == "step.rate_limited"]
        assert len(limited) == sum(answer in (PATIENCE, CASES["says-limited"].answers[0]) for answer in case.answers), word
        assert all(
            (one["kind"], one["step"], one["category"]) == ("retry_scheduled", STEP, "rate_limited") for one in limited
        )
        # What does not need the step is done all the same, and is not done again.
        completed = [one["step"] for one in events if one["kind"] == "step_completed"]
        assert len(completed) == len(set(completed))
        assert {"CHUNKED", "EMBEDDED", "ENTITY_EXTRACTED"} <= set(completed)
    failed = {item["job_id"] for item in items if item["status"] == "FAILED"}
    inbox = ok(await library.ann.get("/api/inbox/jobs"))["items"]
    assert {one["id"] for one in inbox} == failed


async def test_what_a_service_says_of_its_work_is_on_record(library: Library, service: Service) -> None:
    run, [item] = await library.finished(("works.txt", f"works {TEXT}"))
    [step] = [one for one in item["steps"] if one["step"] == STEP]
    assert {name: step[name] for name in METER} == METER
    [event] = [one for one in await library.events(item) if one["kind"] == "step_completed" and one["step"] == STEP]
    assert {name: event[name] for name in METER} == METER
    assert (run["cost_cents"], item["cost_cents"]) == (0.25, 0.25)
    assert (await library.document(item))["made"] == {STEP: OUTPUT}
    [asked] = service.wire.asked
    told = asked.json()
    assert (told["step"], told["item_id"], told["document"]["name"]) == (STEP, item["id"], "works.txt")
    assert told["pages"] == [{"number": 1, "text": f"works {TEXT}"}]
    assert asked.headers["idempotency-key"] == f"{item['job_id']}:{STEP}"


async def test_a_long_wait_blocks_the_service_for_every_document(library: Library, service: Service) -> None:
    service.lay("patience", Answer({"error": "slowly"}, 429, {"retry-after": "3000"}))
    first = await library.make(("a.txt", f"patience {TEXT}"))
    async with library.working(concurrency=1):
        [item] = await eventually(lambda: _waiting(library, first))
        assert (item["status"], item["retry_at"] is not None) == ("PENDING", True)
        assert "patience" in item["eta_reason"]
        assert item["attempt"] == 1
        second = await library.make(("b.txt", f"another {TEXT}"))
        await eventually(lambda: _waiting(library, second))
    assert service.calls == {"patience": 1}, "the other one did not have to be told"
    assert (await library.run(first))["waiting"] == {"rate_limited": 1}


async def _waiting(library: Library, run_id: str) -> list[Any]:
    return [item for item in await library.items(run_id) if item["waiting_for"] == "rate_limited"]


async def test_an_item_goes_on_at_the_step_that_failed_with_another_address(
    library: Library, service: Service, settings: Settings
) -> None:
    """The setting was wrong; with the right one nothing that was done is done again."""
    service.lay("wrong", Answer({}, 404))
    run_id = await library.make(("wrong.txt", f"wrong {TEXT}"))
    async with library.working():
        await library.done(run_id)
        service.lay("wrong", envelope({"words": 9}))
        path = f"/api/documents/runs/{run_id}/retry"
        refused = await library.ann.post(path, json={"settings": {"remote": {STEP: "http://127.0.0.1:9/"}}})
        assert "https://" in problem(refused, 422, "invalid")["detail"]
        assert ok(await library.ann.post(path, json={}), 202)["retried"] == 1
        run = await library.done(run_id)
    assert run["status"] == "COMPLETED"
    [item] = await library.items(run_id)
    started = [one["step"] for one in await library.events(item) if one["kind"] == "step_started"]
    assert started.count(STEP) == 2
    assert all(started.count(one) == 1 for one in started if one != STEP)


class TestWithPrivateAddresses:
    """Where everybody is trusted, people may name services of the network."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return replace(settings, allow_private_urls=True)

    async def test_a_run_waits_for_money_and_goes_on_when_it_may_spend_more(
        self, library: Library, service: Service
    ) -> None:
        texts = [(f"{number}.txt", f"number-{number} {TEXT}") for number in range(4)]
        money = {"remote": {STEP: service.url}, "remote_cents": 1.0, "budget_cents": 1.6}
        run_id = await library.make(*texts, settings=money)
        async with library.working(concurrency=1):
            # Each holds one cent back and turns out to cost a quarter: two are read, and for a third too little is left.
            run = await eventually(lambda: _short_of_money(library, run_id, 1))
            assert run["status"] == "RUNNING"
            assert run["budget"]["limit_cents"] == 1.6
            waiting = [item for item in await library.items(run_id) if item["waiting_for"] == "budget"]
            assert "money" in waiting[0]["eta_reason"]
            path = f"/api/documents/runs/{run_id}/budget"
            assert (await library.bob.put(path, json={"budget_cents": 100})).status_code == 404
            assert ok(await library.ann.put(path, json={"budget_cents": 100}))["settings"]["budget_cents"] == 100
            run = await library.done(run_id)
        assert (run["status"], run["cost_cents"], run["waiting"]) == ("COMPLETED", 1.0, {})
        assert run["budget"] == {"limit_cents": 100.0, "spent_cents": 1.0}
        assert all(item["attempt"] == 1 for item in await library.items(run_id)), "to wait for money is no failure"

    async def test_services_may_do_the_usual_steps(self, library: Library, service: Service) -> None:
        outputs = {
            "CONTENT_EXTRACTED": {
                "pages": [{"number": 1, "text": "Ulm paid"}, {"number": 2, "text": "the lock"}],
                "kind": "Tablet",
            },
            "CHUNKED": {"passages": [{"page": 2, "start": 0, "end": 8}, {"page": 1, "start": 0, "end": 8}]},
            "ENTITY_EXTRACTED": {"entities": [{"page": 1, "type": "place", "value": "Ulm", "start": 0, "end": 3}]},
        }
        service.wire.always = lambda asked: envelope(outputs[asked.json()["step"]])
        settings = {"remote": dict.fromkeys(outputs, service.url) | {STEP: service.url}}
        outputs[STEP] = OUTPUT
        run, [item] = await library.finished(("tablet.bin", b"\x00\x01clay"), settings=settings)
        assert run["status"] == "COMPLETED", item["error"]
        document = await library.document(item)
        assert (document["kind"], document["pages"], document["passages"]) == ("Tablet", 2, 2)
        assert (await library.found("lock"))[0].passage.page == 2
        again, [same] = await library.finished(("tablet.bin", b"\x00\x01clay"), settings=settings)
        assert again["status"] == "COMPLETED"
        assert set(same["reused"]) >= set(outputs) - {STEP}, "the same content is not paid for twice"
        calls = [one.json()["step"] for one in service.wire.asked]
        assert all(calls.count(one) == 1 for one in set(outputs) - {STEP})

    @pytest.mark.parametrize("output", [
        {"passages": [{"page": 1, "start": 5, "end": 5000}]}, {"passages": [{"page": 7, "start": 0, "end": 1}]},
        {"passages": "none"}, None,
    ])  # fmt: skip
    async def test_an_output_that_does_not_fit_is_no_passage(self, library: Library, service: Service, output: Any) -> None:
        service.wire.always = lambda asked: envelope(output if asked.json()["step"] == "CHUNKED" else OUTPUT)
        settings = {"remote": {"CHUNKED": service.url}}
        _, [item] = await library.finished(("canal.txt", TEXT), settings=settings)
        assert (item["status"], item["error"]["category"], item["error"]["step"]) == ("FAILED", "schema_invalid", "CHUNKED")
        assert "CHUNKED" in item["error"]["message"]


async def _short_of_money(library: Library, run_id: str, least: int) -> Any:
    run = await library.run(run_id)
    return run if run["waiting"].get("budget", 0) >= least else None


async def test_addresses_of_services_are_looked_at_when_they_are_given(library: Library, service: Service) -> None:
    item = {"asset_id": await library.file(TEXT)}
    for remote, words in (
        ({STEP: "http://steps.example/"}, "https://"),
        ({STEP: "https://name:secret@steps.example/"}, "password"),
        ({"INDEXED": "https://steps.example/"}, "CONTENT_EXTRACTED"),
        ({"NOBODYS": "https://steps.example/"}, "not 'NOBODYS'"),
    ):
        refused = await library.send([item], settings={"remote": remote})
        assert words in problem(refused, 422, "invalid")["detail"], remote


async def test_a_service_in_the_private_network_is_not_asked_for_a_stranger(library: Library, service: Service) -> None:
    """Its name passes; where it leads is looked at when it is called."""
    _, [item] = await library.finished(("a.txt", TEXT), settings={"remote": {STEP: "https://localhost:9/step"}})
    assert item["error"]["category"] == "schema_invalid"
    assert "private network" in item["error"]["message"]
    assert not service.calls
