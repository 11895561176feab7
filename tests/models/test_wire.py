"""Speech and chat services over real HTTP: what is sent, what answers mean, what refusals mean for a job."""

import asyncio
import io
import socket
import threading
import wave
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest

from tests.models.conftest import Make
from tests.models.wire_server import Answer, WireServer
from towpath.core.errors import ConfigurationError, Fatal, OperationError, RateLimited, SchemaInvalid, Transient
from towpath.models import chat
from towpath.models.speech import Segment, check_language, engine_for, listen
from towpath.models.wire import seconds

SOUND = (0.5 * np.sin(np.arange(32_000) / 10)).astype(np.float32)
COMPLETION = {
    "model": "small-1",
    "choices": [{"message": {"role": "assistant", "content": " Short. "}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 3},
}


def speech(settings: Make, wire: WireServer, **more: object) -> Any:
    return engine_for(settings(**{"speech_url": wire.url, "speech_key": "k-1", "model_timeout_seconds": 10.0} | more))


def chatting(settings: Make, wire: WireServer, **more: object) -> chat.Chat:
    made = chat.client_for(
        settings(**{"chat_url": wire.url, "chat_key": "k-2", "chat_model": "small", "model_timeout_seconds": 10.0} | more)
    )
    assert made is not None
    return made


async def test_a_window_is_sent_as_wav_and_comes_back_as_timed_segments(settings: Make, wire: WireServer) -> None:
    wire.answers.append(
        Answer({"text": "x", "segments": [
            {"start": 0.9, "end": 9.0, "text": " world. "}, {"start": -1, "end": 0.9, "text": "Hello "},
            {"start": 1.0, "end": 1.1, "text": "  "},
        ]})
    )  # fmt: skip
    engine = speech(settings, wire, speech_model="big")
    assert await listen(engine, SOUND, language="pt-BR") == [Segment(0.0, 0.9, "Hello"), Segment(0.9, 2.0, "world.")]
    asked = wire.asked[0]
    form = asked.form()
    assert (asked.path, asked.headers["authorization"]) == ("/v1/audio/transcriptions", "Bearer k-1")
    assert (form["model"], form["language"], form["response_format"]) == (b"big", b"pt", b"verbose_json")
    with wave.open(io.BytesIO(form["file"])) as sent:
        assert (sent.getframerate(), sent.getnchannels(), sent.getsampwidth(), sent.getnframes()) == (16_000, 1, 2, 32_000)
    assert engine.name == "openai_compatible/big"


def test_a_thread_can_ask_the_service_too(settings: Make, wire: WireServer) -> None:
    wire.answers.append(Answer({"text": " All of it. "}))
    engine = speech(settings, wire, speech_model="gpt-4o-transcribe")
    assert engine.transcribe(SOUND) == [Segment(0.0, 2.0, "All of it.")]
    form = wire.asked[0].form()
    assert form["response_format"] == b"json"
    assert "language" not in form


async def test_silence_is_not_sent(settings: Make, wire: WireServer) -> None:
    engine = speech(settings, wire)
    assert await listen(engine, np.zeros(16_000, np.float32)) == []
    assert await listen(engine, np.zeros(0, np.float32)) == []
    assert wire.asked == []


async def test_a_question_is_answered_with_text_and_tokens(settings: Make, wire: WireServer) -> None:
    wire.answers.append(Answer(COMPLETION))
    client = chatting(settings, wire)
    assert await client.ask("Be short.", "Why?") == chat.Reply("Short.", "small-1", 12, 3, whole=True)
    asked = wire.asked[0]
    assert (asked.path, asked.headers["authorization"]) == ("/v1/chat/completions", "Bearer k-2")
    assert asked.json()["model"] == "small"
    assert [message["content"] for message in asked.json()["messages"]] == ["Be short.", "Why?"]


async def test_an_answer_without_usage_has_unknown_tokens_and_thoughts_are_left_out(
    settings: Make, wire: WireServer
) -> None:
    choice = {"message": {"content": "<think>hm\nhm</think>\nYes."}, "finish_reason": "length"}
    wire.answers.append(Answer({"choices": [choice]}))
    assert await chatting(settings, wire).ask("", "?") == chat.Reply("Yes.", "small", None, None, whole=False)


async def ask(kind: str, settings: Make, wire: WireServer, **more: object) -> object:
    if kind == "chat":
        return await chatting(settings, wire, **more).ask("", "?")
    return await listen(speech(settings, wire, **more), SOUND)


KINDS = pytest.mark.parametrize("kind", ["chat", "speech"])


@KINDS
async def test_too_many_requests_block_the_services_budget_for_as_long_as_it_says(
    kind: str, settings: Make, wire: WireServer
) -> None:
    wire.answers.append(Answer({"error": {"message": "slow down"}}, 429, {"retry-after": "17"}))
    with pytest.raises(RateLimited, match="answered 429: slow down") as refused:
        await ask(kind, settings, wire)
    assert refused.value.retry_after == 17
    assert refused.value.budget == f"{kind}:{wire.root.removeprefix('http://')}"


@KINDS
@pytest.mark.parametrize(
    ("answer", "category"),
    [
        (Answer({"error": {"message": "oops"}}, 500), Transient),
        (Answer(b"<html>Bad gateway</html>", 502), Transient),
        (Answer(b"", 503, {"retry-after": "3"}), Transient),
        (Answer(b"", 408), Transient),
        (Answer(b'{"text": "cut of'), Transient),
        (Answer(b"<html>login</html>"), Transient),
        (Answer([1, 2]), Transient),
        (Answer({"unexpected": True}), Transient),
        (Answer({"segments": [{"text": 5}], "choices": [{}]}), Transient),
        (Answer({"error": "no key"}, 401), Fatal),
        (Answer({"detail": "no such model"}, 404), Fatal),
        (Answer(b"", 302, {"location": "http://192.0.2.1/"}), Fatal),
        (Answer({"error": {"code": "insufficient_quota", "message": "pay"}}, 429), Fatal),
        (Answer({"error": {"message": "too long"}}, 400), SchemaInvalid),
        (Answer(b"\xff\xfe", 413), SchemaInvalid),
    ],
    ids=lambda value: f"{value.status}" if isinstance(value, Answer) else value.__name__,
)
async def test_a_refusal_has_the_category_that_helps(
    kind: str, answer: Answer, category: type[OperationError], settings: Make, wire: WireServer
) -> None:
    wire.answers.append(answer)
    with pytest.raises(OperationError) as refused:
        await ask(kind, settings, wire)
    assert type(refused.value) is category
    assert "k-1" not in str(refused.value)
    assert "k-2" not in str(refused.value)
    assert len(wire.asked) == 1


@KINDS
async def test_a_service_that_does_not_answer_in_time_is_tried_again_later(
    kind: str, settings: Make, wire: WireServer
) -> None:
    released = threading.Event()
    wire.answers.append(Answer({}, wait_for=released))
    try:
        with pytest.raises(Transient, match=r"did not answer within 0\.2 s"):
            await ask(kind, settings, wire, model_timeout_seconds=0.2)
    finally:
        released.set()


@KINDS
async def test_a_service_that_is_not_there_is_tried_again_later(kind: str, settings: Make, wire: WireServer) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(Transient, match="could not be reached"):
            await ask(kind, settings, wire, speech_url=url, chat_url=url)


async def test_a_question_that_is_cancelled_does_not_wait_for_its_answer(settings: Make, wire: WireServer) -> None:
    released, arrived = threading.Event(), threading.Event()

    def slowly(_: object) -> Answer:
        arrived.set()
        return Answer({}, wait_for=released)

    wire.answers.append(slowly)
    asking = asyncio.create_task(ask("speech", settings, wire))
    try:
        assert await asyncio.to_thread(arrived.wait, 10)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asking, 5)
    finally:
        released.set()


def test_retry_after_is_read_as_seconds_or_as_a_date() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 60 < seconds(soon) <= 90
    past = format_datetime(datetime.now(UTC) - timedelta(seconds=90), usegmt=True)
    answers = {"2.5": 2.5, "0": 0.0, "-3": 0.0, "soon": 30.0, "nan": 30.0, "inf": 30.0, past: 0.0}
    assert {given: seconds(given) for given in answers} == answers
    assert seconds(None) == 30.0


def test_settings_that_cannot_work_are_refused_with_their_names(settings: Make) -> None:
    with pytest.raises(ConfigurationError, match="needs TOWPATH_SPEECH_URL"):
        check_language(settings(speech_engine="openai_compatible"), "en")
    with pytest.raises(ConfigurationError, match="TOWPATH_SPEECH_URL must be the base URL"):
        engine_for(settings(speech_url="localhost:8000"))
    with pytest.raises(ConfigurationError, match="TOWPATH_CHAT_MODEL is not"):
        chat.client_for(settings(chat_url="http://localhost/v1"))
    assert chat.client_for(settings()) is None


def test_a_service_takes_any_language(settings: Make, wire: WireServer) -> None:
    assert check_language(settings(speech_url=wire.url), "sw-KE") == "sw"
    assert engine_for(settings(speech_url=wire.url), "sw").languages is None
