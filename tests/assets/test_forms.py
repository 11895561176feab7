"""Files in forms, as browsers and curl send them. POST /upload is the route that takes them."""

from typing import Any

import pytest

from tests.assets import media
from tests.assets.test_receiving import left
from tests.server.api.site import Site, ok, problem
from towpath import assets

DATA = media.sound("wav")


def form(*parts: tuple[str, str | None, bytes], end: bool = True) -> bytes:
    body = b""
    for name, file_name, data in parts:
        named = f'; filename="{file_name}"' if file_name is not None else ""
        body += f'--edge\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'.encode() + data + b"\r\n"
    return body + (b"--edge--\r\n" if end else b"")


async def post(site: Site, body: Any) -> Any:
    return await site.ann.post("/upload", content=body, headers={"Content-Type": "multipart/form-data; boundary=edge"})


async def in_bytes(data: bytes) -> Any:
    """Every boundary is cut somewhere."""
    for start in range(0, len(data), 37):
        yield data[start : start + 37]


async def test_a_file_is_taken_with_the_fields_before_and_after_it(small_site: Site):
    body = form(("title", None, "Übung".encode()), ("file", "../../a.wav", DATA), ("auto_summary", None, b"false"))
    made = ok(await post(small_site, in_bytes(body)), 202)
    shown = ok(await small_site.ann.get(f"/api/recordings/{made['id']}"))
    assert shown["title"] == "Übung"
    [key] = await left(small_site.app)
    assert await small_site.app.services.blobs.get(key) == DATA


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        (form(("title", None, b"x")), 422, "no file in this form"),
        (form(("file", "a.wav", DATA), ("file", "b.wav", DATA)), 422, "more than one file"),
        (form(("music", "a.wav", DATA)), 422, "is no field for a file"),
        (form(("file", "a.wav", DATA), end=False), 400, "ended before it was complete"),
        (form(("file", "a.wav", DATA))[: len(DATA) // 2], 400, "ended before it was complete"),
        (b"this is no form at all", 400, "or is none"),
        (form(("title", None, b"x" * 70_000), ("file", "a.wav", DATA)), 413, "longer than 65,536 bytes"),
        (form(("title", None, b"x"), ("title", None, b"y"), ("file", "a.wav", DATA)), 422, "twice"),
        (form(("file", "a.mp3", b"just a letter to a friend")), 422, "is text"),
        (form(("file", "a.mp3", b"")), 422, "is empty"),
        (form(("file", "a.wav", DATA + bytes(3_000_000))), 413, "3,000,000"),
        (form(("file", "a.wav", DATA), ("priority", None, b"9")), 422, "priority"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_a_form_that_does_not_fit_is_refused_and_nothing_is_left(small_site: Site, body: bytes, status: int, why: str):
    answer = await post(small_site, body)
    assert why in problem(answer, status, "too_large" if status == 413 else "invalid")["detail"]
    assert await left(small_site.app) == []
    assert (await assets.usage(small_site.app, "north")).assets == 0


async def test_what_is_no_form_is_refused_by_its_type(small_site: Site):
    problem(await small_site.ann.post("/upload", json={"file": "x"}), 415, "invalid")
    headers = {"Content-Type": "multipart/form-data"}
    problem(await small_site.ann.post("/upload", content=b"x", headers=headers), 415, "invalid")
