"""Files that come as one stream: what is kept of them, what is refused, and that nothing of a refused one is left."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.assets import media
from towpath import App, assets
from towpath.assets.naming import disposition, shown_name
from towpath.assets.sniffing import sniff


async def pieces(data: bytes, size: int = 1000) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def received(app: App, data: bytes, name: str = "a.mp3", tenant: str = "north") -> assets.Asset:
    return await assets.receive(app, tenant, name, pieces(data), kinds=assets.MEDIA, created_by="ann")


async def left(app: App) -> list[str]:
    return [blob.key async for blob in app.services.blobs.list()]


async def rows(app: App) -> int:
    found = await app.services.store.read(lambda tx: tx.fetch_sql(f"SELECT count(*) AS n FROM {_table(tx.dialect)}"))
    return int(found[0]["n"])


def _table(dialect: str) -> str:
    return "towpath_asset" if dialect == "sqlite" else "towpath.asset"


async def test_a_file_is_kept_as_it_came_and_known_by_its_content(app: App):
    data = media.sound("wav")
    asset = await received(app, data, "holiday.mp3")
    assert (asset.state, asset.kind, asset.media_type, asset.bytes) == ("ready", "wav", "audio/wav", len(data))
    assert (asset.name, asset.tenant, asset.created_by) == ("holiday.mp3", "north", "ann")
    assert asset.sha256 == hashlib.sha256(data).hexdigest()
    assert asset.blob_key == f"assets/{asset.id}/content"
    async with assets.open_file(app, asset) as path:
        assert path.read_bytes() == data
    assert await assets.get(app, "north", asset.id) == asset


async def test_another_tenant_does_not_find_it_and_cannot_delete_it(app: App):
    asset = await received(app, media.sound("wav"))
    with pytest.raises(assets.AssetNotFound):
        await assets.get(app, "south", asset.id)
    assert await assets.delete(app, "south", [asset.id]) == 0
    assert await assets.get(app, "north", asset.id) == asset


async def test_a_deleted_file_is_gone_with_its_blob_and_its_room(app: App):
    asset = await received(app, media.sound("wav"))
    assert (await assets.usage(app, "north")).bytes == asset.bytes
    assert await assets.delete(app, "north", [asset.id]) == 1
    assert await assets.delete(app, "north", [asset.id]) == 0
    assert (await left(app), await rows(app)) == ([], 0)
    assert await assets.usage(app, "north") == assets.Usage(0, 0, 0)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"),
        (b"Dear diary,\ntoday I renamed a text file.\n" * 200, "'a.mp3' is text, not"),
        ("Grüße " .encode() * 1000, "is text"),
        (b"PK\x03\x04" + bytes(5000), "is a ZIP archive"),
        (b"%PDF-1.7" + bytes(5000), "is a PDF document"),
        (bytes(5000), "format that is not known here"),
        (b"\xff\xfb", "format that is not known here"),
        (b"\xff\xfb\x90\x00" + b"x" * 5000, "format that is not known here"),
    ],
)  # fmt: skip
async def test_what_is_no_recording_is_refused_with_what_it_is(lite: App, data: bytes, why: str):
    with pytest.raises(assets.AssetRefused, match=why) as caught:
        await received(lite, data)
    assert caught.value.why == "unfit"
    assert caught.value.remedy
    assert (await left(lite), await rows(lite), (await assets.usage(lite, "north")).assets) == ([], 0, 0)


async def test_a_file_above_the_cap_is_broken_off_and_nothing_is_left(lite: App):
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        yield media.sound("wav")
        while True:
            taken += 100_000
            yield bytes(100_000)

    with pytest.raises(assets.AssetRefused, match="up to 3,000,000 bytes") as caught:
        await assets.receive(lite, "north", "a.wav", endless(), kinds=assets.MEDIA, created_by=None)
    assert caught.value.why == "too_large"
    assert taken < 4_000_000
    assert (await left(lite), await rows(lite)) == ([], 0)


async def test_a_quota_is_told_with_its_numbers_and_holds_when_files_come_at_once(app: App):
    data = media.sound("wav")
    app.settings = replace(app.settings, upload_quota_bytes=2 * len(data) + 10)
    outcomes = await asyncio.gather(*[received(app, data) for _ in range(5)], return_exceptions=True)
    refused = [one for one in outcomes if isinstance(one, assets.AssetRefused)]
    assert len(refused) == 3
    assert all("no room left" in str(one) and f"{2 * len(data) + 10:,}" in str(one) for one in refused)
    assert (await assets.usage(app, "north")).bytes == 2 * len(data)
    assert len(await left(app)) == 2
    await received(app, data, tenant="south")  # another tenant has its own


async def test_a_broken_stream_leaves_nothing(lite: App):
    async def breaking() -> AsyncIterator[bytes]:
        yield media.sound("wav")
        raise ConnectionError("the client is gone")

    with pytest.raises(ConnectionError):
        await assets.receive(lite, "north", "a.wav", breaking(), kinds=assets.MEDIA, created_by=None)
    assert (await left(lite), await rows(lite)) == ([], 0)


async def test_a_cancelled_upload_leaves_nothing(lite: App):
    begun = asyncio.Event()

    async def hanging() -> AsyncIterator[bytes]:
        yield media.sound("wav")
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(assets.receive(lite, "north", "a.wav", hanging(), kinds=assets.MEDIA, created_by=None))
    await asyncio.wait_for(begun.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(20):
        while await rows(lite):  # noqa: ASYNC110  (the clean-up goes on by itself)
            await asyncio.sleep(0.02)
    assert await left(lite) == []


@pytest.mark.parametrize("kind", media.KINDS)
def test_every_kind_is_told_from_its_first_bytes(kind: str):
    assert sniff(media.sound(kind)[:4096]).name == kind


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("../../etc/passwd.mp3", "passwd.mp3"),
        ("C:\\music\\a.mp3", "a.mp3"),
        ("<img src=x onerror=alert(1)>.mp3", "<img src=x onerror=alert(1)>.mp3"),
        ("a\x00b\r\n.mp3", "ab.mp3"),
        ("..", "upload"),
        ("", "upload"),
        ("gpj.\u202e3pm.exe", "gpj.3pm.exe"),
        ("\udcff.mp3", "?.mp3"),
        ("x" * 500 + ".mp3", "x" * 250 + "….mp3"),
    ],
)
def test_names_are_only_shown(given: str, shown: str):
    assert shown_name(given) == shown
    header = disposition("attachment", shown)
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2
