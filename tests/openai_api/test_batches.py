"""/v1/files and /v1/batches, driven by the official library against a running server."""

import asyncio
from types import SimpleNamespace

import openai
import pytest
from openai.types.chat import ChatCompletion

from tests.engine.ordering import case_of
from tests.engine.working import on_sqlite
from tests.models.wire_server import WireServer
from tests.openai_api.front import Front, asks
from towpath import Fatal
from towpath.batches.completing import Completing
from towpath.providers.simulator import served


async def test_a_program_for_openai_runs_a_batch_here(front: Front, wire: WireServer):
    made = await front.batch([asks("a"), asks("bad"), asks("c", "other")], metadata={"description": "three", "mine": "1"})
    assert (made.status, made.endpoint, made.completion_window) == ("validating", "/v1/chat/completions", "24h")
    assert (made.metadata or {})["mine"] == "1"
    assert made.expires_at == made.created_at + 24 * 3600
    async with front.working():
        batch = await front.ended(made)
    assert batch.status == "completed"
    assert batch.request_counts is not None
    assert batch.request_counts.to_dict() == {"total": 3, "completed": 2, "failed": 1}
    assert batch.completed_at is not None
    assert batch.model is None, "it has two"
    good = await front.lines(batch.output_file_id)
    assert [line["custom_id"] for line in good] == ["a", "c"]
    assert all(set(line) == {"id", "custom_id", "response", "error"} and line["error"] is None for line in good)
    assert {line["response"]["status_code"] for line in good} == {200}
    told = [ChatCompletion.model_validate(line["response"]["body"]) for line in good]
    assert [one.choices[0].message.content for one in told] == ["A", "C"]
    assert sorted(asked.json()["model"] for asked in wire.asked) == ["m", "m", "other"]
    [bad] = await front.lines(batch.error_file_id)
    assert (bad["custom_id"], bad["response"]["status_code"]) == ("bad", 400)
    assert "too long" in bad["response"]["body"]["error"]["message"]


async def test_files_are_listed_fetched_and_deleted(front: Front):
    first, second = await front.upload([asks("a")]), await front.upload(b"plain text", purpose="user_data")
    batch = await front.done([asks("x"), asks("bad")])
    found = [file async for file in front.ann.files.list(limit=1)]
    assert {file.id for file in found} == {first, second, batch.input_file_id, batch.output_file_id, batch.error_file_id}
    assert len(found) == 5
    assert [file.id async for file in front.ann.files.list(purpose="user_data")] == [second]
    outputs = [file.id async for file in front.ann.files.list(purpose="batch_output", limit=1)]
    assert set(outputs) == {batch.output_file_id, batch.error_file_id}
    told = await front.ann.files.retrieve(second)
    assert (told.bytes, told.filename, told.purpose, told.status) == (10, "in.jsonl", "user_data", "processed")
    assert (await front.ann.files.content(second)).text == "plain text"
    output = await front.ann.files.retrieve(batch.output_file_id or "")
    assert output.bytes == len((await front.ann.files.content(output.id)).content)
    for one in (second, output.id):
        assert (await front.ann.files.delete(one)).deleted
        for look in (front.ann.files.retrieve, front.ann.files.content, front.ann.files.delete):
            with pytest.raises(openai.NotFoundError):
                await look(one)
    assert [file.id async for file in front.ann.files.list(purpose="user_data")] == []


async def test_batches_are_listed_in_pages_newest_first(front: Front):
    made = [(await front.batch([asks(str(number))])).id for number in range(5)]
    page = await front.ann.batches.list(limit=2)
    assert [batch.id for batch in page.data] == made[:2:-1]
    assert page.has_more
    assert [batch.id async for batch in front.ann.batches.list(limit=2)] == made[::-1]
    with pytest.raises(openai.BadRequestError):
        await front.ann.batches.list(after="nonsense")


async def test_one_that_is_cancelled_says_so_and_cannot_be_cancelled_again(front: Front):
    made = await front.batch([asks("a")])
    stopped = await front.ann.batches.cancel(made.id)
    assert stopped.status in ("cancelling", "cancelled")
    assert (await front.ended(stopped)).cancelled_at is not None
    with pytest.raises(openai.ConflictError, match="cancelled"):
        await front.ann.batches.cancel(made.id)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"not json", "invalid_json_line"),
        (b"[1]", "invalid_json_line"),
        (b'{"custom_id": "x", "url": "/v1/chat/completions"}', "invalid_json_line"),
        (b'{"custom_id": "x", "url": "/v1/embeddings", "body": {"model": "m", "input": "x"}}', "invalid_url"),
        (b'{"custom_id": "x", "method": "GET", "url": "/v1/chat/completions", "body": {"model": "m"}}', "invalid_method"),
        (b'{"custom_id": "x", "url": "/v1/chat/completions", "body": {"messages": []}}', "missing_required_parameter"),
    ],
)
async def test_one_line_that_does_not_fit_fails_the_batch_before_anything_is_asked(
    front: Front, wire: WireServer, line: bytes, code: str
):
    import json

    batch = await front.done(json.dumps(asks("a")).encode() + b"\n" + line)
    assert batch.status == "failed"
    assert batch.errors is not None
    [error] = batch.errors.data or []
    assert (error.line, error.code) == (2, code)
    assert error.message
    assert (batch.output_file_id, batch.error_file_id, wire.asked) == (None, None, [])


async def test_one_whose_files_could_not_be_made_has_failed_and_one_of_which_nothing_was_answered_is_complete(
    front: Front, monkeypatch: pytest.MonkeyPatch
):
    none = await front.done([asks("bad")])
    assert (none.status, none.output_file_id) == ("completed", None)
    [line] = await front.lines(none.error_file_id)
    assert line["custom_id"] == "bad"

    async def full(*_: object) -> None:
        raise Fatal("the disk is full")

    monkeypatch.setattr(Completing, "_split", full)
    broken = await front.done([asks("a")])
    assert (broken.status, broken.output_file_id, broken.error_file_id) == ("failed", None, None)
    assert broken.errors is not None
    assert "the disk is full" in str((broken.errors.data or [])[0].message)


async def test_a_custom_id_that_comes_twice_and_an_empty_file_are_refused(front: Front):
    twice = await front.done([asks("a"), asks("a")])
    assert twice.errors is not None
    assert [error.code for error in twice.errors.data or []] == ["duplicate_custom_id"]
    empty = await front.done(b"\n\n")
    assert (empty.status, empty.errors and [error.code for error in empty.errors.data or []]) == ("failed", ["empty_file"])


async def test_a_file_that_is_deleted_before_it_was_read_fails_its_batch_in_words(front: Front):
    made = await front.batch([asks("a")])
    await front.ann.files.delete(made.input_file_id)
    async with front.working():
        batch = await front.ended(made)
    assert (batch.status, batch.input_file_id) == ("failed", made.input_file_id)
    assert batch.errors is not None
    assert "deleted" in str((batch.errors.data or [])[0].message)


async def test_50_000_lines_are_taken(front: Front):
    """They are read and cut into orders; nobody waits for the answers."""
    made = await front.batch([asks(f"n{number}") for number in range(50_000)])
    async with front.working(), asyncio.timeout(120):
        while (batch := await front.ann.batches.retrieve(made.id)).status == "validating":  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        await front.ann.batches.cancel(made.id)
    assert batch.request_counts is not None
    assert batch.request_counts.total == 50_000


async def test_what_does_not_fit_is_refused_as_openai_refuses_it(front: Front):
    file, other = await front.upload([asks("a")]), await front.upload([asks("a")], purpose="user_data")
    good = {"input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    for more, param in (
        ({"endpoint": "/v1/embeddings"}, "endpoint"), ({"input_file_id": other}, "input_file_id"),
        ({"metadata": {"towpath_provider": "NOBODY"}}, "metadata.towpath_provider"),
        ({"metadata": {"k" * 65: "v"}}, None), ({"metadata": {"k": 1}}, "metadata.k"), ({"strange": 1}, "strange"),
        ({"completion_window": ""}, "completion_window"),
    ):  # fmt: skip
        with pytest.raises(openai.BadRequestError) as refused:
            await front.ann.post("/batches", cast_to=object, body=good | more)
        assert refused.value.type == "invalid_request_error"
        assert refused.value.param == param or param is None
    with pytest.raises(openai.NotFoundError):
        await front.ann.post("/batches", cast_to=object, body=good | {"input_file_id": "file-x"})


@on_sqlite
@pytest.mark.parametrize("provider", ["OPENAI", "ANTHROPIC", "GEMINI"])
async def test_answers_are_completions_whichever_provider_gave_them(front: Front, provider: str):
    case = case_of(provider)
    with served(case.simulator()) as url:
        front.app.provider(provider, lambda: case.adapter(SimpleNamespace(url=url)))  # type: ignore[arg-type]
        batch = await front.done([asks("a"), asks("b")], metadata={"towpath_provider": provider})
    told = [ChatCompletion.model_validate(line["response"]["body"]) for line in await front.lines(batch.output_file_id)]
    assert [one.choices[0].message.content for one in told] == ["You said: a", "You said: b"]
    assert {one.model for one in told} == {"m"}


async def test_a_provider_of_the_metadata_runs_it_and_a_retry_here_needs_no_file_of_openais(front: Front):
    from tests.products.batches.desk import EchoProvider

    provider = EchoProvider()
    front.app.provider(provider.name, lambda: provider)
    lines = [asks("a"), asks("b")]
    lines[0]["body"]["say"] = "hello"
    lines[1]["body"]["fail"] = True
    batch = await front.done(lines, metadata={"towpath_provider": "scripted"})
    assert batch.status == "completed"
    assert batch.model == "m"
    [good] = await front.lines(batch.output_file_id)
    assert good["response"]["body"] == {"echo": "hello", "by": "m"}
    [bad] = await front.lines(batch.error_file_id)
    assert (bad["response"], bad["error"]) == (None, {"code": "server_error", "message": "it did not work"})
    [known] = (await front.site.ann.get("/api/batches")).json()["items"]
    assert (known["provider"], known["status"], known["total"]) == ("SCRIPTED", "PARTIAL_COMPLETE", 2)
    again = (await front.site.ann.post(f"/api/batches/{known['id']}/retry")).json()
    async with front.working(), asyncio.timeout(60):
        while (told := (await front.site.ann.get(f"/api/batches/{again['id']}")).json())["status"] != "FAILED":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert (told["failed"], told["models"]) == (1, ["m"])
    assert [one.id async for one in front.ann.batches.list()] == [batch.id], "it was not made by this API"
