"""CONTENT_EXTRACTED: the file as text with pages, read in a process that is locked in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import PurePath
from typing import Any

from towpath import ConfigurationError, Fatal, assets
from towpath.documents import results
from towpath.documents.names import CONTENT_EXTRACTED, FETCHED
from towpath.documents.work import Work
from towpath.extraction import Extracted, Extractors, Options, options_of

EXTRACTORS = "documents.extractors"
"""The resource's name."""
_LIBRARIES = ("xberg", "pypdfium2", "rapidocr")


async def extract(work: Work) -> dict[str, Any]:
    """The name is part of what it is made of as far as it matters: Markdown is told from text by it."""
    fetched = work.output(FETCHED)
    ocr = options_of(work.ctx.settings).ocr and work.options.ocr

    async def make() -> tuple[bytes, Mapping[str, Any]]:
        found = await _read(work, fetched["asset_id"], ocr)
        await work.ctx.meter(model=f"{found.engine} {found.engine_version}", cost_cents=0.0)
        rows = [[page.number, page.text] for page in found.pages]
        return await work.ctx.in_thread(results.packed, rows), facts_of(found)

    suffix = PurePath(fetched["name"]).suffix.lower()[:20]
    return await results.once(work, CONTENT_EXTRACTED, [fetched["sha256"], ocr, suffix, _versions()], make)


async def _read(work: Work, asset_id: str, ocr: bool) -> Extracted:
    extractors: Extractors = await work.ctx.resources.get(EXTRACTORS)
    asset = await assets.get(work.ctx, work.tenant, asset_id)
    try:
        async with assets.open_file(work.ctx, asset) as path:
            return await extractors.extract(path, asset.name, owner=work.tenant, options=Options(ocr=ocr))
    except ConfigurationError as error:
        raise Fatal(str(error), remedy="install it where the workers run, then retry") from None


def facts_of(found: Extracted) -> dict[str, Any]:
    return {
        "kind": found.kind, "media_type": found.media_type, "title": found.title, "language": found.language,
        "unit": found.unit, "method": found.method, "pages": len(found.pages),
        "characters": sum(len(page.text) for page in found.pages), "warnings": list(found.warnings),
        "engine": f"{found.engine} {found.engine_version}",
    }  # fmt: skip


@cache
def _versions() -> list[str]:
    """Another release may read the same file in another way."""
    found = []
    for name in _LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(name)
    return found
