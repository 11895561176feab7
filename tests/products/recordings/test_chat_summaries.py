"""Summaries by a chat service: long transcripts in parts, each a step; what was answered is not asked for again."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.engine.working import happened
from tests.models.wire_server import Answer, Asked, WireServer
from tests.products.recordings.ear import Ear
from tests.products.recordings.studio import Studio, opened_studio
from tests.server.api.site import ok
from towpath import App, Settings
from towpath.testing import FakeClock, drain

TALK = [f"In chapter {number} the miller sails to the coast and meets an old friend of the family." for number in range(24)]


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        yield server


@pytest.fixture
async def studio(sqlite_url: str, settings: Settings, wire: WireServer) -> AsyncIterator[Studio]:
    """On a clock that jumps over every wait."""
    chatting = replace(settings, chat_url=wire.url, chat_model="m", chat_chunk_characters=200)
    async with opened_studio(App(sqlite_url, settings=chatting, clock=FakeClock())) as studio:
        yield studio


def answering(asked: Asked) -> Answer:
    choice = {"message": {"content": "Short."}, "finish_reason": "stop"}
    return Answer({"model": "m-2026", "choices": [choice], "usage": {"prompt_tokens": 50, "completion_tokens": 4}})


def question(asked: Asked) -> str:
    return str(asked.json()["messages"][1]["content"])


async def _summarized(studio: Studio, ear: Ear) -> dict[str, Any]:
    ear.hears = [(number / 100, (number + 1) / 100, sentence) for number, sentence in enumerate(TALK)]
    sent = await studio.upload(auto_summary="true")
    await drain(studio.app)
    return await studio.get(sent["id"])


async def test_a_refusal_in_part_7_does_not_ask_for_parts_1_to_6_again(studio: Studio, ear: Ear, wire: WireServer):
    def refusing(asked: Asked) -> Answer:
        if "part 7 of" in question(asked) and sum("part 7 of" in question(one) for one in wire.asked) == 1:
            return Answer({"error": {"message": "slow down"}}, 429, {"retry-after": "60"})
        return answering(asked)

    wire.always = refusing
    done = await _summarized(studio, ear)
    assert (done["status"], done["summary"]["method"], done["summary"]["text"]) == ("COMPLETED", "chat", "Short.")
    asked = Counter(question(one) for one in wire.asked)
    twice = [words for words, times in asked.items() if times > 1]
    assert len(asked) > 8
    assert [("part 7 of" in words, asked[words]) for words in twice] == [(True, 2)]
    assert all(sum(sentence in words for words in asked) == 1 for sentence in TALK)

    job_id = done["jobs"][-1]["id"]
    row = await studio.app.get(job_id)
    assert (row.state, row.failures) == ("succeeded", 0)  # waiting uses up no attempt
    completed = [event.fields for event in await happened(studio.app, job_id, "step.completed")]
    metered = [fields for fields in completed if fields["step"].startswith("summary ")]
    assert len(metered) == len(asked)
    assert all((fields["model"], fields["tokens_in"], fields["tokens_out"]) == ("m-2026", 50, 4) for fields in metered)
    assert (done["summary"]["tokens_in"], done["summary"]["tokens_out"]) == (50 * len(asked), 4 * len(asked))


async def test_the_cost_is_told_once_the_price_is_known(studio: Studio, ear: Ear, wire: WireServer):
    wire.always = answering
    done = await _summarized(studio, ear)
    summary = done["summary"]
    assert (summary["model"], summary["cost_cents"]) == ("m-2026", None)
    assert done["transcript"]["cost_cents"] == 0.0  # it was heard on this machine
    price = {"input_per_million_cents": 1_000_000, "output_per_million_cents": 2_000_000}
    ok(await studio.root.put("/api/settings/prices", json={"m-2026": price}))
    priced = (await studio.get(done["id"]))["summary"]
    assert priced["cost_cents"] == summary["tokens_in"] * 1.0 + summary["tokens_out"] * 2.0


async def test_a_key_that_is_refused_is_told_with_the_setting_that_has_it(studio: Studio, ear: Ear, wire: WireServer):
    wire.always = lambda asked: Answer({"error": {"message": "no such key"}}, 401)
    failed = await _summarized(studio, ear)
    assert (failed["status"], failed["has_transcript"]) == ("FAILED", True)
    assert "no such key" in failed["error"]
    assert "TOWPATH_CHAT_KEY" in failed["job"]["error_remedy"]
