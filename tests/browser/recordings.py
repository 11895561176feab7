"""The page of recordings as somebody uses it: files are dropped, rows are looked for in the list and in the popup."""

from base64 import b64encode
from functools import cache
from typing import Any

from playwright.async_api import CDPSession, Locator, Page, expect

from tests.browser.visitors import Visitor
from tests.engine.working import eventually
from tests.products.recordings.media import encoded, silence, speech

_DROP = """(files) => {
  const transfer = new DataTransfer();
  for (const { name, data } of files)
    transfer.items.add(new File([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], name));
  for (const kind of ["dragenter", "dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""

_WRITTEN = """(text) => new Promise((done, fail) => {
  const opening = indexedDB.open("uppy-blobs");
  opening.onerror = fail;
  opening.onsuccess = () => {
    const reading = opening.result.transaction(["metadata"]).objectStore("metadata").getAll();
    reading.onerror = fail;
    reading.onsuccess = () => { opening.result.close(); done(JSON.stringify(reading.result).includes(text)); };
  };
})"""

_LOSE_FILES = """() => new Promise((done, fail) => {
  const opening = indexedDB.open("uppy-blobs");
  opening.onerror = fail;
  opening.onsuccess = () => {
    const writing = opening.result.transaction(["files"], "readwrite");
    const counting = writing.objectStore("files").count();
    writing.objectStore("files").clear();
    writing.onerror = fail;
    writing.oncomplete = () => { opening.result.close(); done(counting.result); };
  };
})"""

_KEEP_DOCK = """try {
  if (!localStorage.getItem("towpath.dock")) localStorage.setItem("towpath.dock", '{"kept": true, "folded": false}');
} catch {}"""

BROKEN = b"ID3\x04\x00\x00\x00\x00\x00\x00" + bytes(4000)
"""Has the form of an mp3 file, and nothing in it that could be decoded."""


@cache
def said(ending: str = "mp3") -> bytes:
    """Four seconds of speech."""
    return encoded(speech("clone-test"), ending)


@cache
def quiet(seconds: float = 1.0, ending: str = "mp3") -> bytes:
    return encoded(silence(seconds), ending)


class Desk:
    """Somebody's page of recordings, with the popup on it. A recording's title is its file's name without the ending."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor, self.page = visitor, visitor.page
        self.dock = self.page.get_by_role("complementary", name="Progress of recordings")
        self.staging = self.page.locator("section[aria-labelledby=staged]")
        self._tools: CDPSession | None = None
        self._list = self.page.get_by_role("list", name="Recordings")

    async def open(self, *, kept: bool = True) -> Page:
        """`kept`: the popup was opened by hand before, so that it stays when all is done."""
        if kept:
            await self.page.add_init_script(_KEEP_DOCK)
        await self.visitor.open("/recordings")
        await expect(self.page.get_by_role("region", name="Add recordings")).to_be_visible()
        await expect(self.page.get_by_text("Live", exact=True)).to_be_attached()
        return self.page

    async def drop(self, files: dict[str, bytes]) -> None:
        """Lets go of files over the page."""
        given = [{"name": name, "data": b64encode(data).decode()} for name, data in files.items()]
        await self.page.evaluate(_DROP, given)

    async def upload(self, files: dict[str, bytes]) -> None:
        """Drops files and starts them."""
        await self.drop(files)
        await expect(self.staging.get_by_role("listitem")).to_have_count(len(files))
        await self.staging.get_by_role("button", name="Upload", exact=len(files) == 1).first.click()

    async def reload(self, *, written: str) -> None:
        """Loads the page again as soon as this text is in the browser's storage."""
        await self.page.wait_for_function(_WRITTEN, arg=written, polling=50)
        await self.page.reload()

    async def lose_files(self) -> None:
        """The browser throws away its copies of the files, as it may when its disk is full."""
        await eventually(lambda: self.page.evaluate(_LOSE_FILES))

    async def slow_down(self, bytes_per_second: int | None) -> None:
        """What goes out goes at this speed from now on; None: as fast as it can."""
        if self._tools is None:
            self._tools = await self.page.context.new_cdp_session(self.page)
        limits = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": bytes_per_second or -1}
        await self._tools.send("Network.emulateNetworkConditions", limits)

    def staged(self, title: str) -> Locator:
        return self._named(self.staging, title)

    def listed(self, title: str) -> Locator:
        return self._named(self._list, title)

    def docked(self, title: str) -> Locator:
        return self._named(self.dock, title)

    async def look_at(self, view: str) -> None:
        await self.dock.get_by_role("tab", name=view).click()

    async def expect_counts(self, **counts: int) -> None:
        """Of the popup's views: `active`, `done`, `failed`."""
        for name, count in counts.items():
            await expect(self.dock.get_by_role("tab", name=f"{name} {count}")).to_be_attached()

    async def expect_list(self, *titles: str) -> None:
        """These recordings and no others."""
        await expect(self._list.get_by_role("listitem")).to_have_count(len(titles))
        for title in titles:
            await expect(self.listed(title)).to_have_count(1)

    async def expect_dock(self, view: str, *titles: str) -> None:
        """The view of the popup has these rows and no others."""
        await self.expect_counts(**{view: len(titles)})
        await self.look_at(view)
        await expect(self.dock.get_by_role("listitem")).to_have_count(len(titles))
        for title in titles:
            await expect(self.docked(title)).to_have_count(1)

    async def recordings(self) -> dict[str, dict[str, Any]]:
        """What the server has, by title."""
        answer = await self.visitor.context.request.get(f"{self.visitor.address}/api/recordings")
        assert answer.ok, await answer.text()
        return {one["title"]: one for one in (await answer.json())["items"]}

    def _named(self, within: Locator, title: str) -> Locator:
        return within.get_by_role("listitem").filter(has=self.page.get_by_text(title, exact=True))
