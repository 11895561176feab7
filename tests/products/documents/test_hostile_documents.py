"""One run with everything that was made to do harm, or came to harm: each item ends with a clear word, memory stays within
its limits, and the documents between them are read."""

from __future__ import annotations

import resource
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.extraction import papers, traps
from tests.products.documents.library import TEXT, Library
from tests.server.api.site import ok
from towpath import Settings

MEMORY_MB = 1024
_SCRIPT = b"<html><head><script>stolen()</script></head><body onload='stolen()'><p>seven guilders</p></body></html>"
_MIXED = "The keeper said \u05e9\u05dc\u05d5\u05dd and \u0645\u0631\u062d\u0628\u0627 to the \u8239\u592b, who paid. "
_ARABIC = "# " + "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645 " * 30

REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "encrypted.pdf": (lambda: papers.pdf("x", password="secret"), "password"),
    "encrypted.docx": (traps.locked_office, "password"),
    "truncated.pdf": (lambda: traps.truncated(papers.pdf(*[papers.ENGLISH] * 5)), "only a part of it"),
    "truncated.docx": (traps.truncated, "only a part of it"),
    "cyclic.pdf": (traps.looped_pages, "none of its pages"),
    "huge.pdf": (lambda: traps.many_pages(6_000), "5,000 pages"),
    "bomb.docx": (lambda: traps.zip_bomb(300), "unpacks from"),
    "program.pdf": (lambda: b"\x7fELF\x02\x01\x01" + bytes(200), "is a program"),
}
READ: dict[str, tuple[bytes, str, str | None]] = {
    # What it is, and a word that is found in it.
    "script.html": (_SCRIPT, "HTML", "guilders"),
    "really-a-pdf.txt": (papers.pdf(papers.ENGLISH), "PDF", "barges"),
    "mixed.txt": ((_MIXED * 3).encode(), "text", "\u05e9\u05dc\u05d5\u05dd"),
    "arabic.md": (_ARABIC.encode(), "Markdown", "\u0645\u0631\u062d\u0628\u0627"),
    "empty-page.pdf": (papers.pdf(""), "PDF", None),
    "spaces.txt": (b" " * 5000, "text", None),
    "laughs.docx": (traps.billion_laughs(), "DOCX", None),
    "good.txt": (TEXT.encode(), "text", "horses"),
}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, extract_memory_mb=MEMORY_MB, extract_ocr=False)


async def test_harm_ends_in_words_and_the_run_goes_on(library: Library, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret of the house")
    files = [(name, made()) for name, (made, _) in REFUSED.items()] + [(name, data) for name, (data, *_) in READ.items()]
    files.append(("xxe.docx", traps.external_entity(str(secret))))
    before = _most()
    run, items = await library.finished(*files)
    assert (run["status"], run["counts"]["FAILED"]) == ("PARTIAL", len(REFUSED)), [
        (item["name"], item["error"]) for item in items if item["error"] and item["name"] not in REFUSED
    ]
    by_name = {item["name"]: item for item in items}
    for name, (_, words) in REFUSED.items():
        item = by_name[name]
        assert (item["status"], item["error"]["category"]) == ("FAILED", "schema_invalid"), (name, item["error"])
        assert words in item["error"]["message"], (name, item["error"]["message"])
        assert item["error"]["remedy"], name
        assert item["attempt"] == 1, f"{name} fails the same way each time"
    for name, (_, kind, word) in READ.items():
        document = await library.document(by_name[name])
        assert kind.lower() in document["kind"].lower(), name
        hits = {hit.passage.source_id for hit in await library.found(word)} if word else set()
        assert word is None or document["id"] in hits, name
        assert word is not None or document["warnings"], f"{name} has no text, and says so"
    assert await library.found('"stolen"') == []
    assert await library.found('"secret of the house"') == []
    xxe = ok(await library.ann.get(f"/api/documents/{by_name['xxe.docx']['document_id']}/pages/1"))
    assert "secret" not in xxe["text"]
    inbox = ok(await library.ann.get("/api/inbox/jobs", params={"limit": 100}))["items"]
    assert {one["id"] for one in inbox} == {by_name[name]["job_id"] for name in REFUSED}
    worker, children = _most()
    assert children < max(MEMORY_MB + 200, before[1] + 1), "each is read within its limit"
    assert worker - before[0] < 500, "and none of them is held here"


def _most() -> tuple[float, float]:
    """The most memory that this process and its children ever had, in MB."""
    return tuple(resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))  # type: ignore[return-value]


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_ten_megabytes_in_one_line_are_cut_and_found(library: Library) -> None:
    words: list[Any] = [f"word{number % 50_000}" for number in range(1_000_000)]
    line = " ".join(words)
    assert len(line) > 9_000_000
    run_id = await library.make(("line.txt", line))
    async with library.working():
        run = await library.until(run_id, "COMPLETED", "FAILED", "PARTIAL", within=800)
    assert run["status"] == "COMPLETED", await library.items(run_id)
    [item] = await library.items(run_id)
    assert (await library.document(item))["passages"] > 5_000
    assert await library.found("word49999")
