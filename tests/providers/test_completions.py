"""Requests and results in lines, and chat bodies in other words than OpenAI's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.providers.cases import MemoryFiles, completion
from towpath import SchemaInvalid, Transient
from towpath.providers.chat_bodies import Turn, Untranslatable, read
from towpath.providers.completions import REFUSED, Requests, refused, results
from towpath.providers.json_lines import objects, requests, split


async def pieces(data: bytes, size: int) -> AsyncIterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
async def test_lines_are_the_same_in_pieces_of_any_size(size: int):
    data = "one\n\n  \ntwo\u2028still two\x85and\x0bon\r\nthree".encode()
    found = [line async for line in split(pieces(data, size))]
    assert found == [b"one", "two\u2028still two\x85and\x0bon\r".encode(), b"three"]


@pytest.mark.parametrize("data", [b'{"a": 1}\n{"a": ', b'{"a": 1}\n[1]\n', b'{"a": 1}\n\xff\n'])
async def test_results_that_are_no_objects_have_broken_off(data: bytes):
    with pytest.raises(Transient, match="SOMEBODY"):
        _ = [value async for value in objects(pieces(data, 4), "SOMEBODY")]


async def test_a_result_of_a_shape_that_nobody_knows_is_no_failure_of_the_adapters():
    def read_text(line: Any) -> Any:
        return line["result"]["text"].upper()

    with pytest.raises(Transient, match="shape"):
        _ = [result async for result in results("SOMEBODY", pieces(b'{"result": "x"}', 4), read_text)]


@pytest.mark.parametrize(
    "line", [b"nonsense", b"[]", b'{"custom_id": "r", "body": 1}', b'{"custom_id": "", "body": {}}', b'"x"']
)
async def test_a_line_that_is_no_request_is_named(line: bytes):
    files = MemoryFiles()
    files.blobs["blob"] = b'{"custom_id": "r0", "body": {}}\n' + line + b"\n"
    with pytest.raises(SchemaInvalid, match="request 2") as wrong:
        _ = [request async for request in requests(files, "blob")]
    assert wrong.value.path == "requests[1]"


def body(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "hello"}], **fields}


def test_instructions_come_first_and_the_conversation_after_them():
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "developer", "content": [{"type": "text", "text": "be "}, {"type": "text", "text": "kind"}]},
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "hi", "refusal": None},
        {"role": "system", "content": "be briefer"},
    ]
    found = read({"messages": messages, "model": "whatever"}, ())
    assert found.instructions == ("be brief", "be kind")
    assert found.conversation == (Turn("user", "hello"), Turn("assistant", "hi"), Turn("system", "be briefer"))


def test_what_there_are_several_words_for_is_read_in_any_of_them():
    assert read(body(max_tokens=5), ()).max_tokens == 5
    assert read(body(max_completion_tokens=6, max_tokens=None), ()).max_tokens == 6
    assert read(body(stop="end"), ()).stop == ("end",)
    assert read(body(stop=["a", "b"]), ()).stop == ("a", "b")
    assert read(body(temperature=0, n=1, stream=False, seed=None), ("temperature", "top_p")).numbers == {"temperature": 0}
    assert read(body(response_format={"type": "text"}), ()).json is False
    assert read(body(response_format={"type": "json_object"}), ()).json is True
    schema = {"type": "object"}
    assert (
        read(body(response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}), ()).schema
        == schema
    )


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (body(temperature=0.5), "temperature"),
        (body(tools=[{}]), "tools"),
        (body(n=2), "'n'"),
        (body(stream=True), "stream"),
        (body(max_tokens=0), "max_tokens"),
        (body(max_tokens=True), "max_tokens"),
        (body(stop=[1]), "stop"),
        (body(response_format={"type": "json_schema"}), "response_format"),
        (body(response_format="json"), "response_format"),
        ({}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": ["hello"]}, "role"),
        ({"messages": [{"role": "tool", "content": "x", "tool_call_id": "1"}]}, "role"),
        ({"messages": [{"role": "assistant", "content": "x", "tool_calls": [{}]}]}, "tool_calls"),
        ({"messages": [{"role": "user", "content": None}]}, "content"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "no text"),
        ({"messages": [{"role": "system", "content": "alone"}]}, "user"),
    ],
)
def test_what_cannot_be_put_in_other_words_is_refused_by_its_name(asked: dict[str, Any], reason: str):
    with pytest.raises(Untranslatable, match=reason):
        read(asked, ())


async def test_what_cannot_be_sent_is_left_out_and_has_its_reason_among_the_results():
    files = MemoryFiles()
    order = completion(files, "tow-1", 3, "model", lambda number: {"messages": [], "number": number})

    def line(ref: str, asked: Any) -> dict[str, Any]:
        if asked["number"] == 1:
            raise Untranslatable("it is odd")
        return {"ref": ref}

    made = Requests("SOMEBODY", order, files, line)
    assert [sent async for sent in made.lines()] == [b'{"ref":"r0"}\n', b'{"ref":"r2"}\n']
    assert made.count == 2
    (left,) = refused({REFUSED: made.refused})
    assert (left.ref, left.ok, left.code) == ("r1", False, "unsupported")
    assert "it is odd" in str(left.error)


async def test_an_order_of_which_nothing_can_be_sent_is_refused():
    files = MemoryFiles()
    order = completion(files, "tow-1", 3, "model", lambda number: {})

    def line(ref: str, asked: Any) -> dict[str, Any]:
        raise Untranslatable("it is odd")

    with pytest.raises(SchemaInvalid, match="it is odd"):
        _ = [sent async for sent in Requests("SOMEBODY", order, files, line).lines()]
    files.blobs[str(order.requests)] = b""
    with pytest.raises(SchemaInvalid, match="there are none"):
        _ = [sent async for sent in Requests("SOMEBODY", order, files, line).lines()]
    many = completion(files, "tow-2", 1500, "model", lambda number: {})
    with pytest.raises(SchemaInvalid, match="more than 1000"):
        _ = [sent async for sent in Requests("SOMEBODY", many, files, line).lines()]
