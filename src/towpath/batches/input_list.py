"""The inputs of a transcription, one to a line: read, and checked as far as that can be done without fetching them.

What is wrong with one is its reason, and stops no other.
"""

from __future__ import annotations

import asyncio
import json
import mimetypes
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from towpath import Context, SchemaInvalid, Transient, assets, plain_text
from towpath.assets import MEDIA
from towpath.batches.intake import MOST_INPUTS
from towpath.batches.reading import LONGEST_LINE, Unfit
from towpath.outbound.client import Outbound
from towpath.outbound.sources import check_source, is_address, name_of, shown

_HOSTS_AT_ONCE = 16
_SHOWN = 300


@dataclass(slots=True)
class Given:
    """One input. `number` is its line's, from 0; `models` are those that are to hear it, None: all of the batch."""

    number: int
    input: str = ""
    """Word for word. It may hold a secret."""
    models: list[str] | None = None
    reason: str | None = None
    """What is wrong with it."""
    name: str = ""
    blob: str | None = None
    """Where it is in the blob store, if it was uploaded or fetched."""
    uri: str | None = None
    """Where its provider reads it."""
    size: int = 0
    parts: list[int] = field(default_factory=list)
    """Which of the batch's models hear it."""

    @property
    def shown(self) -> str:
        return shown(self.input) if is_address(self.input) else plain_text(self.input, _SHOWN)

    @property
    def file_name(self) -> str | None:
        """Of an uploaded file, whose id tells people nothing."""
        return None if is_address(self.input) else self.name or None

    def as_told(self) -> dict[str, Any]:
        return {"input": self.shown} | ({"name": self.file_name} if self.file_name else {})


def read_lines(path: Path, models: Sequence[str]) -> list[Given]:
    """Every line that is not empty."""
    found: list[Given] = []
    with path.open("rb") as listed:
        while line := listed.readline(LONGEST_LINE + 1):
            if not line.strip():
                continue
            if len(found) >= MOST_INPUTS:
                raise SchemaInvalid(
                    f"a batch hears at most {MOST_INPUTS:,} inputs, and there are more", remedy="make several"
                )
            found.append(_read(len(found), line, models))
    return found


def _read(number: int, line: bytes, models: Sequence[str]) -> Given:
    try:
        given, wanted = parse(line)
    except Unfit as error:
        return Given(number, reason=str(error))
    strange = [one for one in wanted or () if one not in models]
    if strange:
        return Given(number, given, reason=f"the batch does not ask the model {strange[0][:100]!r}")
    found = Given(number, given, wanted)
    found.parts = [place for place, model in enumerate(models) if wanted is None or model in wanted]
    return found


def parse(line: bytes) -> tuple[str, list[str] | None]:
    """`{"input": "…"}`, with `models` if not all are to hear it."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise Unfit("the line is no JSON") from None
    given = value.get("input") if isinstance(value, dict) else None
    if not isinstance(given, str) or not given.strip():
        raise Unfit("it has no input, which is the id of an uploaded file or an address")
    if value.get("forgotten"):
        raise Unfit("it was a signed link, and is not kept once it was heard: send the link again")
    models = value.get("models")
    if models is not None and not (isinstance(models, list) and models and all(isinstance(one, str) for one in models)):
        raise Unfit("models is a list of the models that are to hear it")
    return given.strip(), models


async def check_all(ctx: Context, tenant: str, found: Sequence[Given]) -> None:
    """Sets the reason of those that cannot be heard."""
    seen: dict[str, int] = {}
    for one in found:
        if one.reason is None:
            key = one.input if is_address(one.input) else one.input.lower()
            first = seen.setdefault(key, one.number)
            if first != one.number:
                one.reason = f"it is the same as that of line {first + 1}"
    left = [one for one in found if one.reason is None]
    await _check_files(ctx, tenant, [one for one in left if not is_address(one.input)])
    await _check_addresses(ctx, tenant, [one for one in left if is_address(one.input)])


async def _check_files(ctx: Context, tenant: str, found: Sequence[Given]) -> None:
    known = await assets.get_all(ctx, tenant, [one.input for one in found])
    for one in found:
        asset = known.get(one.input.lower())
        if asset is not None:
            one.name = asset.name
        if asset is None:
            one.reason = "no uploaded file has this id; it may have been deleted"
        elif asset.state != "ready":
            one.reason = f"the upload of {asset.name!r} has not been completed"
        elif asset.kind not in MEDIA:
            one.reason = f"{asset.name!r} is {asset.media_type}, and neither audio nor video"
        else:
            one.blob, one.size = asset.blob_key, asset.bytes


async def _check_addresses(ctx: Context, tenant: str, found: Sequence[Given]) -> None:
    for one in found:
        one.name = name_of(one.input)
        try:
            check_source(ctx.settings, one.input, tenant=tenant)
            one.reason = _by_name(one.name)
        except SchemaInvalid as error:
            one.reason = _why(error)
    hosts: dict[tuple[str, str], list[Given]] = {}
    for one in found:
        if one.reason is None and one.input.lower().startswith("http"):
            parts = urlsplit(one.input)
            hosts.setdefault((parts.scheme, parts.netloc), []).append(one)
    doors = asyncio.Semaphore(_HOSTS_AT_ONCE)
    await asyncio.gather(*(_check_host(ctx, same, doors) for same in hosts.values()))


async def _check_host(ctx: Context, same: Sequence[Given], doors: asyncio.Semaphore) -> None:
    """Where a name leads is asked once for all that are there. One that leads nowhere just now may do so later."""
    async with doors:
        try:
            with suppress(Transient):
                await Outbound(allow_private=ctx.settings.allow_private_urls).check(same[0].input)
        except SchemaInvalid as error:
            for one in same:
                one.reason = _why(error)


def _why(error: SchemaInvalid) -> str:
    """Which input it is about is told beside it."""
    return str(error).removeprefix(f"{error.path}: ")


def _by_name(name: str) -> str | None:
    """Names are not believed where content can be looked at; here they only refuse what says that it is something else."""
    kind = mimetypes.guess_type(name)[0]
    if kind is None or kind.startswith(("audio/", "video/")) or kind in ("application/ogg", "application/mp4"):
        return None
    return f"{name!r} is {kind} by its name, and neither audio nor video"
