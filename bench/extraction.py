"""Reading documents: what it costs to do it in a process that is locked in, over calling the library itself."""

import asyncio
import time
from collections.abc import Callable
from functools import partial

import xberg

from bench.measure import Comparison, Progress, compare
from tests.extraction import papers
from towpath.extraction import Extractors, Options

LIBRARY = "the library"
ONE_OWNER, TEN_OWNERS, NO_OWNER = "towpath, one owner", "towpath, ten owners by turns", "towpath, a process for each"
_OFFICE = "application/vnd.openxmlformats-officedocument"
_ROUND = 20
"""Documents in one round of the mix; what has a process for each is measured over so many."""

Document = tuple[bytes, str]


def corpus(documents: int) -> list[Document]:
    """Small ones of every kind, none like another."""
    made: list[Document] = []
    while len(made) < documents:
        text = f"Document {len(made)}. {papers.ENGLISH} {papers.GERMAN} "
        word = papers.docx_of(text * 5, text * 5, table=[["Ort", "Zoll"], ["Ulm", "7"]])
        made += [
            (papers.pdf(*[text * 12] * 3), "application/pdf"),
            (papers.pdf(text * 12), "application/pdf"),
            (word, f"{_OFFICE}.wordprocessingml.document"),
            (papers.xlsx_of({"Tolls": [["Ort", number] for number in range(200)]}), f"{_OFFICE}.spreadsheetml.sheet"),
            (papers.pptx_of(("One", text, "note"), ("Two", text, "")), f"{_OFFICE}.presentationml.presentation"),
            (f"<html><body>{f'<p>{text}</p>' * 40}</body></html>".encode(), "text/html"),
            (f"# {text}\n\n- one\n- two\n\n{text * 20}".encode(), "text/markdown"),
            ((text * 50).encode(), "text/plain"),
        ]
    return made[:documents]


def extractions(*, documents: int, rounds: int, progress: Progress) -> tuple[dict[str, Comparison], float]:
    """Documents per second, each compared with the library; and how many MB the documents have together."""
    mix = corpus(documents)
    subjects: dict[str, Callable[[], float]] = {
        ONE_OWNER: partial(_ours, mix, 1),
        TEN_OWNERS: partial(_ours, mix, 10),
        NO_OWNER: partial(_ours, mix[:_ROUND], 0),
    }
    compared = compare(LIBRARY, partial(library_rate, mix), subjects, rounds=rounds, progress=progress)
    return compared, sum(len(data) for data, _ in mix) / 1e6


def library_rate(mix: list[Document]) -> float:
    """Documents per second, one after the other, with what our own processes ask the library for."""
    config = xberg.ExtractionConfig(
        use_cache=False, disable_ocr=True, pages=xberg.PageConfig(extract_pages=True),
        language_detection=xberg.LanguageDetectionConfig(),
    )  # fmt: skip

    async def read() -> float:
        await xberg.extract(xberg.ExtractInput(kind="bytes", bytes=b"text", mime_type="text/plain"), config)
        start = time.perf_counter()
        for data, media_type in mix:
            await xberg.extract(xberg.ExtractInput(kind="bytes", bytes=data, mime_type=media_type), config)
        return len(mix) / (time.perf_counter() - start)

    return asyncio.run(read())


def _ours(mix: list[Document], owners: int) -> float:
    """One after the other, too; the processes are started before, as those of a worker are."""

    async def read() -> float:
        async with Extractors(at_once=max(1, owners), spare=not owners) as extractors:
            for owner in range(owners or 1):
                await extractors.extract(b"text", owner=_named(owner, owners))
            start = time.perf_counter()
            for number, (data, _) in enumerate(mix):
                await extractors.extract(data, owner=_named(number, owners), options=Options(ocr=False))
            return len(mix) / (time.perf_counter() - start)

    return asyncio.run(read())


def _named(number: int, owners: int) -> str | None:
    return f"owner {number % owners}" if owners else None
