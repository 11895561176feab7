"""Summaries with and without a chat model."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.models.conftest import Make
from tests.models.wire_server import Answer, Asked, WireServer
from towpath.config import Settings
from towpath.core.errors import Fatal
from towpath.models.chunks import sentences
from towpath.models.extractive import extract
from towpath.models.summaries import EXTRACTIVE_LABEL, summarize

BRIDGE = (
    "The town council met on Monday to talk about the old bridge. The bridge over the river was built in 1902 and its iron "
    "is rusting. Engineers told the council that the bridge must be repaired before the winter. Um. Yes. The repair of the "
    "bridge costs two million euros. Somebody opened a window. The council voted to pay for the repair of the bridge with "
    "money from the road fund. The bridge over the river will be closed from March to June. Right, okay. Buses will take "
    "another way while the bridge is closed. Coffee was served at ten. Thank you."
)
STORY = [f"In chapter {number} the {who} travels to the {where} and meets old friends." for number, who, where in (
    (number, ("sailor", "doctor", "miller", "queen")[number % 4], ("coast", "city", "forest")[number % 3])
    for number in range(60)
)]  # fmt: skip


def answering(text: str, finish: str = "stop") -> Answer:
    choice = {"message": {"content": text}, "finish_reason": finish}
    return Answer({"model": "m", "choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 2}})


def question(asked: Asked) -> str:
    return str(asked.json()["messages"][1]["content"])


@pytest.fixture
def chatting(settings: Make, wire: WireServer) -> Callable[[int], Settings]:
    return lambda most: settings(
        chat_url=wire.url, chat_model="m", chat_chunk_characters=most, model_timeout_seconds=10.0
    )  # fmt: skip


async def test_without_a_chat_service_a_summary_is_made_of_the_texts_own_sentences_and_says_so(settings: Make) -> None:
    made = await summarize(settings(), BRIDGE)
    assert (made.method, made.label, made.model) == ("extractive", EXTRACTIVE_LABEL, "wordllama/l2_supercat_256")
    assert (made.tokens_in, made.tokens_out) == (None, None)
    taken = [line.removeprefix("- ") for line in made.text.splitlines()]
    whole = sentences(BRIDGE)
    assert len(taken) == 3
    assert [whole.index(sentence) for sentence in taken] == sorted(whole.index(sentence) for sentence in taken)
    assert all("bridge" in sentence for sentence in taken)


async def test_the_same_text_has_the_same_extractive_summary(settings: Make) -> None:
    assert len({(await summarize(settings(), BRIDGE)).text for _ in range(3)}) == 1


def test_an_extractive_summary_does_not_say_one_thing_twice() -> None:
    text = " ".join(
        ["The bridge is closed from March to June."] * 30 + ["Coffee was served at ten in the town hall.", BRIDGE]
    )
    assert len(set(extract(text, 3))) == 3


@pytest.mark.parametrize("text", ["", "  \n ", "Yes.", "One. Two. Three."])
def test_of_a_text_with_few_sentences_all_are_taken(text: str) -> None:
    assert extract(text) == sentences(text)


def test_three_hours_of_talk_without_a_single_full_stop_are_summarised_in_ten_sentences() -> None:
    words = [f"{sentence.removesuffix('.')} again {number}" for number in range(37) for sentence in STORY]
    found = extract(" ".join(words))  # some 27,000 words
    assert len(found) == 10
    assert all(len(sentence) <= 400 for sentence in found)


async def test_a_short_text_is_one_question(chatting: Callable[[int], Settings], wire: WireServer) -> None:
    wire.answers.append(answering("All about a bridge."))
    made = await summarize(chatting(4000), BRIDGE)
    assert (made.text, made.method, made.label, made.model) == ("All about a bridge.", "chat", "Summary by m", "m")
    assert (made.tokens_in, made.tokens_out, made.parts) == (10, 2, 1)
    assert BRIDGE in question(wire.asked[0])


async def test_a_long_text_is_summarised_in_parts_and_every_sentence_is_asked_about(
    chatting: Callable[[int], Settings], wire: WireServer
) -> None:
    wire.always = lambda asked: answering(f"Part summary {len(wire.asked)}.")
    made = await summarize(chatting(1000), " ".join(STORY))
    questions = [question(asked) for asked in wire.asked]
    assert made.parts == len(questions) - 1 > 3
    for sentence in STORY:
        assert sum(sentence in asked for asked in questions) == 1
    assert all(f"Part summary {number}." in questions[-1] for number in range(1, made.parts + 1))
    assert made.text == f"Part summary {len(questions)}."
    assert made.tokens_in == 10 * len(questions)


async def test_summaries_of_parts_that_do_not_fit_together_are_summarised_again(
    chatting: Callable[[int], Settings], wire: WireServer
) -> None:
    wire.always = lambda asked: answering(f"<{len(wire.asked)}> " + "long " * 15)
    made = await summarize(chatting(200), " ".join(STORY))
    later = [question(asked) for asked in wire.asked[made.parts :]]
    for number in range(1, len(wire.asked)):
        assert sum(f"<{number}> " in asked for asked in later) == 1
    assert made.text.startswith(f"<{len(wire.asked)}>")


async def test_a_model_that_does_not_make_texts_shorter_is_given_up(
    chatting: Callable[[int], Settings], wire: WireServer
) -> None:
    wire.always = lambda asked: answering("long " * 39)
    with pytest.raises(Fatal, match="no two of them fit into 200 characters"):
        await summarize(chatting(200), " ".join(STORY))


async def test_an_answer_cut_short_is_asked_for_again_and_never_taken(
    chatting: Callable[[int], Settings], wire: WireServer
) -> None:
    wire.answers += [answering("Half a", "length"), answering("Short and whole.")]
    assert (await summarize(chatting(4000), BRIDGE)).text == "Short and whole."
    assert "at most 120 words" in question(wire.asked[1])
    wire.answers += [answering("Half a", "length"), answering("Half b", "length")]
    with pytest.raises(Fatal, match="did not finish its answer") as refused:
        await summarize(chatting(4000), BRIDGE)
    assert "TOWPATH_CHAT_CHUNK_CHARACTERS" in str(refused.value.remedy)


async def test_questions_that_are_recorded_are_not_asked_again(
    chatting: Callable[[int], Settings], wire: WireServer
) -> None:
    record: dict[str, str] = {}

    async def step(name: str, ask: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        if name not in record:
            record[name] = json.dumps(await ask())
        answer: dict[str, Any] = json.loads(record[name])
        return answer

    wire.always = lambda asked: answering(f"Answer {len(wire.asked)}.")
    first = await summarize(chatting(1000), " ".join(STORY), step=step)
    asked = len(wire.asked)
    assert await summarize(chatting(1000), " ".join(STORY), step=step) == first
    assert len(wire.asked) == asked == len(record)
