"""Results that no reader expects: what can be read of them is kept, what cannot be read is told in its place, and neither
stops another, at a provider and on one's own workers."""

import json
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.engine.working import on_sqlite
from tests.models.wire_server import Answer, Asked, WireServer
from tests.products.batches.desk import Desk, EchoProvider, opened_desk, request
from tests.products.batches.test_here import asks, said
from tests.server.api.site import ok
from towpath import App, Settings
from towpath.providers import Order, Prepared, Result

HALF = "\ud800"
"""Half of a character, as a broken library makes it of an emoji."""


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


ODD = {
    "half": json.dumps({"echo": f"{HALF}\x00 done"}), "no number": '{"echo": NaN}', "large": '{"echo": 1' + "0" * 40 + "}",
    "deep": f'{{"echo": {deep(150)}}}', "too deep": f'{{"echo": {deep(199)}}}', "text": '"plain"', "nothing": "null",
}  # fmt: skip
"""As it comes over the wire."""
KEPT = {
    "half": {"echo": "?\x00 done"}, "no number": {"echo": None}, "large": {"echo": 10**40}, "deep": json.loads(ODD["deep"]),
    "text": "plain", "nothing": None, "fine": {"echo": "fine"},
}  # fmt: skip
UNREADABLE = {"too deep"}


class Odd(EchoProvider):
    async def fetch(self, order: Order, prepared: Prepared, external_id: str) -> AsyncGenerator[Result, None]:
        for line in self.requests[order.key]:
            name = line["body"]["say"]
            if name == "error":
                yield Result(line["custom_id"], None, f"no{HALF}\x00", f"co{HALF}de\x00")
                continue
            body = json.loads(ODD[name]) if name in ODD else {"echo": name}
            tokens = {"half": -5, "no number": 10**30}.get(name, 7)
            yield Result(line["custom_id"], body, tokens_in=tokens, tokens_out=tokens)


async def told(desk: Desk, batch_id: str) -> dict[str, dict[str, Any]]:
    """The results, by any reader of strict JSON, and the same ones on the page."""

    def no_number(name: str) -> Any:
        raise AssertionError(f"{name} is no JSON")

    answer = await desk.ann.get(f"/api/batches/{batch_id}/results")
    lines = [json.loads(line, parse_constant=no_number) for line in answer.content.decode("utf-8").splitlines()]
    assert len(ok(await desk.ann.get(f"/api/batches/{batch_id}/preview"))["lines"]) == len(lines)
    return {line["custom_id"]: line for line in lines}


async def test_what_a_provider_answers_is_kept_as_far_as_it_can_be_read(database_url: str, settings: Settings):
    async with opened_desk(App(database_url, settings=settings), Odd()) as desk:
        found = await desk.finished([request(name) for name in (*ODD, "error", "fine")])
        lines = await told(desk, found["id"])
        assert (found["status"], found["ok"], found["failed"]) == ("PARTIAL_COMPLETE", len(KEPT), 2)
        assert {name: line["response"] for name, line in lines.items() if line["error"] is None} == KEPT
        assert lines["error"]["error"] == {"code": "co?de␀", "message": "no?␀"}
        assert lines["too deep"]["error"]["code"] == "unreadable"
        assert "cannot be read" in lines["too deep"]["error"]["message"]
        job = ok(await desk.ann.get(f"/api/jobs/{found['job_id']}"))
        assert job["tokens_in"] == 7 * 5, "what is nonsense is not added up"


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        yield server


@on_sqlite
async def test_what_a_chat_service_answers_is_kept_as_far_as_it_can_be_read(
    database_url: str, settings: Settings, wire: WireServer
):
    def odd(asked: Asked) -> Answer:
        name = said(asked)
        echo = json.loads(ODD[name])["echo"] if name in ODD else name
        return Answer(json.dumps({"echo": echo, "usage": {"prompt_tokens": 10**30, "completion_tokens": 3}}).encode())

    wire.always = odd
    names = [name for name in (*ODD, "fine") if name not in ("text", "nothing")]
    async with opened_desk(App(database_url, settings=replace(settings, chat_url=wire.url, chat_model="m"))) as desk:
        found = await desk.finished([asks(name) for name in names], provider="LOCAL", models=[])
        lines = await told(desk, found["id"])
    assert (found["status"], found["failed"]) == ("PARTIAL_COMPLETE", 1)
    assert lines["too deep"]["error"]["code"] == "unreadable"
    assert {name: lines[name]["response"]["echo"] for name in names if name != "too deep"} == {
        name: KEPT[name]["echo"] for name in names if name != "too deep"
    }
    assert len(wire.asked) == len(names), "each was asked once"
