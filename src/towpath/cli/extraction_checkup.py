"""Whether documents can be read here, and behind which walls, for `towpath doctor`: found by reading one."""

from __future__ import annotations

from collections.abc import Sequence

from towpath.cli.decoder_checkup import REMEDY, left_open
from towpath.cli.extras import EXTRAS, how_to_install, missing_of
from towpath.core.errors import ConfigurationError, Transient
from towpath.engine.asking.findings import Finding, note, ok, problem
from towpath.extraction import DocumentUnreadable, Extractors, Limits
from towpath.walls.lock import WALLS

_TOPIC = "documents"
_LIMITS = Limits(seconds=60)


async def checkup(walls: Sequence[str] = WALLS) -> list[Finding]:
    """Reads a line of text as any stranger's document. Pictures have readers of their own, which are only looked for."""
    missing = missing_of("documents")
    if len(missing) == len(EXTRAS["documents"]):
        return [ok(_TOPIC, "what reads them is not installed; towpath[documents] brings it")]
    if missing:
        return [problem(_TOPIC, f"{', '.join(missing)} is missing of what reads them", how_to_install("documents"))]
    try:
        async with Extractors(_LIMITS, spare=False, walls=walls) as extractors:
            stand = (await extractors.extract(b"A line of text.")).walls
    except (ConfigurationError, DocumentUnreadable, Transient) as error:
        return [problem(_TOPIC, f"they cannot be read: {error}", "reinstall towpath[documents]")]
    named = ", ".join(stand)
    if "seccomp" in stand:
        return [ok(_TOPIC, f"are read without access to files, network and programs ({named})")]
    held = f"one that has taken its reader over could still {left_open(stand)}; it is held by: {named or 'nothing'}"
    return [note(_TOPIC, held, REMEDY)]
