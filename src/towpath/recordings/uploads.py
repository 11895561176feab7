"""What becomes of a finished upload whose purpose is to be a recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from towpath import App, Context, SchemaInvalid, Transaction
from towpath.assets import Arrival, AssetRefused, Sender
from towpath.identity.principal import WITHOUT_STANDING, no_standing
from towpath.recordings import intake, templates
from towpath.recordings.intake import New, Options, Uploader, checked

_TRUE, _FALSE = frozenset({"true", "1", "yes", "on"}), frozenset({"false", "0", "no", "off"})
KNOWN = ("title", "language", "model", "speakers", "auto_summary", "template", "priority")
PURPOSE = "recording"


async def check(app: App, sender: Sender, options: Mapping[str, Any]) -> None:
    """Refuses options that do not fit before anything is uploaded: a language nobody here understands, for one."""
    if unknown := sorted(set(options) - set(KNOWN)):
        raise SchemaInvalid(f"there is no such option; known are: {', '.join(KNOWN)}", path=unknown[0][:100])
    wanted = await checked(app, options_from(sender, options))
    await templates.check(app, sender.tenant, wanted.template)


async def prepare(app: App, ctx: Context, arrival: Arrival) -> New:
    sender = arrival.sender
    whose = Uploader(sender.tenant, sender.account_id, sender.name)
    return await intake.prepare(app, arrival.asset, options_from(sender, arrival.options), whose)


async def received(tx: Transaction, arrival: Arrival) -> dict[str, Any]:
    """Answers what POST /upload answers: the ids of the recording and of its job."""
    recording_id, job_id = await intake.add(tx, arrival.prepared)
    return {"id": recording_id, "job_id": job_id}


def options_from(sender: Sender, given: Mapping[str, Any]) -> Options:
    """Options as forms and upload metadata have them: text. What does not fit is refused with its name."""
    text = {name: str(given[name]).strip() for name in KNOWN if given.get(name) not in (None, "")}
    priority = _priority(text.get("priority", "1"))
    check_standing(sender, priority)
    return Options(
        title=text.get("title"),
        language=text.get("language"),
        model=text.get("model"),
        speakers=_flag("speakers", text.get("speakers", "false")),
        auto_summary=_flag("auto_summary", text["auto_summary"]) if "auto_summary" in text else None,
        template=text.get("template"),
        priority=priority,
    )


def check_standing(sender: Sender, priority: int) -> None:
    if why := no_standing(sender.may, priority):
        raise AssetRefused(why, remedy=WITHOUT_STANDING, why="not_allowed")


def _flag(name: str, text: str) -> bool:
    if text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    raise SchemaInvalid(f"must be true or false, got {text[:50]!r}", path=name)


def _priority(text: str) -> int:
    if text in ("0", "1", "2", "3"):
        return int(text)
    raise SchemaInvalid(f"must be 0 (first) to 3 (last), got {text[:50]!r}", path="priority")
