"""Files on their way out: whole, in part, with headers that fit."""

import pytest

from tests.assets import media
from tests.assets.test_receiving import pieces
from tests.server.api.site import Site, ok, problem
from towpath import assets
from towpath.http.ranges import Span, Unsatisfiable, span_of

DATA = media.sound("wav")
SIZE = len(DATA)


async def kept(site: Site, name: str = "a.wav", data: bytes = DATA, **options: object) -> str:
    taken = await assets.receive(
        site.app, "north", name, pieces(data, 1 << 16), kinds=options.get("kinds", assets.MEDIA), created_by=None
    )
    return f"/api/assets/{taken.id}"


async def test_the_whole_file_and_its_description(small_site: Site):
    where = await kept(small_site, 'x"y\r\n<b>é.wav')
    answer = await small_site.ann.get(f"{where}/content")
    assert (answer.status_code, answer.content) == (200, DATA)
    assert answer.headers["content-type"] == "audio/wav"
    assert answer.headers["content-length"] == str(SIZE)
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-disposition"] == (
        "inline; filename=\"x_y_b__.wav\"; filename*=UTF-8''x%22y%3Cb%3E%C3%A9.wav"
    )
    saved = await small_site.ann.get(f"{where}/content", params={"download": "true"})
    assert saved.headers["content-disposition"].startswith("attachment; ")
    assert ok(await small_site.ann.get(where))["name"] == 'x"y<b>é.wav'


async def test_what_is_neither_audio_nor_video_is_only_ever_saved(small_site: Site):
    where = await kept(small_site, "a.html", b"<script>alert(1)</script>", kinds=None)
    answer = await small_site.ann.get(f"{where}/content")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment; ")


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [("bytes=0-9", 0, 10), ("bytes=5-", 5, SIZE), ("bytes=-7", SIZE - 7, SIZE), (f"bytes=3-{SIZE * 9}", 3, SIZE)],
)
async def test_a_range_is_answered_with_just_that(small_site: Site, asked: str, start: int, end: int):
    where = await kept(small_site)
    answer = await small_site.ann.get(f"{where}/content", headers={"Range": asked})
    assert (answer.status_code, answer.content) == (206, DATA[start:end])
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{SIZE}"


async def test_a_range_outside_the_file_is_told_its_size(small_site: Site):
    where = await kept(small_site)
    answer = await small_site.ann.get(f"{where}/content", headers={"Range": f"bytes={SIZE}-"})
    problem(answer, 416, "invalid")
    assert answer.headers["content-range"] == f"bytes */{SIZE}"


async def test_if_range_gives_a_part_of_the_same_file_only(small_site: Site):
    where = f"{await kept(small_site)}/content"
    head = (await small_site.ann.get(where)).headers
    for condition, status in [
        (head["etag"], 206), (head["last-modified"], 206), ('"other"', 200), ("Sun, 06 Nov 1994 08:49:37 GMT", 200),
        ("nonsense", 200),
    ]:  # fmt: skip
        answer = await small_site.ann.get(where, headers={"Range": "bytes=0-4", "If-Range": condition})
        assert answer.status_code == status, condition
    assert (await small_site.ann.get(where, headers={"If-None-Match": head["etag"]})).status_code == 304


async def test_other_tenants_find_nothing_and_administrators_do(small_site: Site):
    where = await kept(small_site)
    for path in (where, f"{where}/content", "/api/assets/nonsense", "/api/assets/%00"):
        problem(await small_site.bob.get(path), 404, "not_found")
    assert (await small_site.root.get(f"{where}/content")).content == DATA


async def test_a_blob_that_is_gone_is_no_half_answer(small_site: Site):
    where = await kept(small_site)
    await small_site.app.services.blobs.delete_prefix("assets")
    problem(await small_site.ann.get(f"{where}/content"), 404, "not_found")


@pytest.mark.parametrize(
    ("header", "span"),
    [
        (None, None), ("", None), ("bytes=", None), ("bytes=-", None), ("bytes=5-3", None), ("lines=1-2", None),
        ("bytes=0-1,5-6", None), ("bytes=a-b", None), ("bytes=0-0", Span(0, 1)), ("bytes=-99", Span(0, 10)),
        ("bytes=9-9", Span(9, 10)),
    ],
)  # fmt: skip
def test_ranges_are_read_as_the_standard_says(header: str | None, span: Span | None):
    assert span_of(header, 10) == span


@pytest.mark.parametrize(("header", "size"), [("bytes=10-", 10), ("bytes=-0", 10), ("bytes=0-", 0), ("bytes=-5", 0)])
def test_ranges_with_nothing_in_them_are_unsatisfiable(header: str, size: int):
    with pytest.raises(Unsatisfiable):
        span_of(header, size)
