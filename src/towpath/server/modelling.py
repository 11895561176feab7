"""What can be told of models: those of the machine, those of services, which is the default, and what is being fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from towpath.choices.overlay import chosen, overlaid
from towpath.choices.pulling import PULL
from towpath.choices.records import ENVIRONMENT, NONE, Chosen, Kind, Service
from towpath.config import Settings
from towpath.core.errors import OperationError
from towpath.core.records import Job
from towpath.engine.app import App
from towpath.models import inventory
from towpath.models.inventory import WITHOUT_LIBRARY, Entry
from towpath.models.languages import WHISPER
from towpath.models.speeds import known_speed
from towpath.recordings.learning import measured
from towpath.server.schemas import models as schemas

_PULLS = 50


async def told(app: App, *, admin: bool) -> schemas.ModelList:
    known = await chosen(app.services.store)
    speeds, pulls = await measured(app), await _pulls(app) if admin else {}
    return await asyncio.to_thread(_told, app, known, speeds, pulls)


async def _pulls(app: App) -> dict[str, Job]:
    """The newest job of each model, as long as there is one."""
    jobs = await app.list(operation=PULL, limit=_PULLS)
    found: dict[str, Job] = {}
    for job in jobs:
        if job.subject is not None:
            found.setdefault(job.subject[1], job)
    return found


def _told(app: App, known: Chosen, speeds: Mapping[str, float], pulls: Mapping[str, Job]) -> schemas.ModelList:
    speech, chat = _speech(app, known), _chat(app, known)
    machine = [
        _of_machine(entry, speech.model, speeds, pulls.get(entry.name))
        for entry in inventory.entries(app.settings)
        if not entry.kind.endswith(" service")
    ]
    services = [_of_service(one, speech if one.kind == "speech" else chat, speeds) for one in known.services.values()]
    return schemas.ModelList(
        models=[*machine, *services, *_of_environment(app.settings, speech, chat, speeds)], speech=speech, chat=chat
    )


def _speech(app: App, known: Chosen) -> schemas.ModelDefault:
    reference = known.defaults.get("speech")
    said = app.settings.speech_engine or app.settings.speech_url or app.settings.speech_model
    plain = _named(app.settings, said)
    try:
        settings = overlaid(app, Chosen(known.services, {} if reference is None else {"speech": reference}))
        hears, detects = inventory.heard_by(settings)
        service = known.service(reference, "speech") if reference else None
        if service is not None and service.languages is not None:
            hears = service.languages
    except OperationError:  # it is gone: whoever uploads is told
        hears, detects = (), False
    model = reference if reference is not None else plain
    return schemas.ModelDefault(
        model=model, chosen=reference, of="chosen" if reference else "environment" if said else "usual",
        overrides=plain if reference and said else None, hears=list(hears), detects=detects,
    )  # fmt: skip


def _named(settings: Settings, said: str) -> str | None:
    used = inventory.in_use(settings)
    return ENVIRONMENT if used == "openai_compatible" and said else used


def _chat(app: App, known: Chosen) -> schemas.ModelDefault:
    reference = known.defaults.get("chat")
    there = bool(app.settings.chat_url)
    model = reference if reference is not None else ENVIRONMENT if there else None
    return schemas.ModelDefault(
        model=None if model == NONE else model, chosen=reference,
        of="chosen" if reference else "environment" if there else "usual",
        overrides=ENVIRONMENT if reference and there else None, hears=[], detects=False,
    )  # fmt: skip


def _of_machine(entry: Entry, default: str | None, speeds: Mapping[str, float], job: Job | None) -> schemas.Model:
    missing = WITHOUT_LIBRARY in entry.state or WITHOUT_LIBRARY in entry.note
    speed, here = _speed(entry.name, speeds) if entry.kind == "speech" else (None, False)
    state = "missing" if missing else "can_be_pulled" if entry.state == "can be pulled" else "ready"
    return schemas.Model.model_validate(
        {
            "name": entry.name, "kind": entry.kind, "at": "machine", "model": None, "state": state,
            "hears": None if entry.hears is None else list(entry.hears), "detects": entry.detects, "bytes": entry.bytes,
            "speed": speed, "speed_measured": here, "pulled": entry.pulled,
            "note": (entry.state if WITHOUT_LIBRARY in entry.state else entry.note) or None,
            "default": entry.name == default or (entry.kind not in ("speech", "chat") and entry.state == "in use"),
            "pull": _pull(job),
        }
    )  # fmt: skip


def _of_service(one: Service, default: schemas.ModelDefault, speeds: Mapping[str, float]) -> schemas.Model:
    hears = None if one.kind == "chat" else list(one.languages or WHISPER)
    speed, here = _speed(f"openai_compatible/{one.model}", speeds) if one.kind == "speech" else (None, False)
    return _elsewhere(one.reference, one.kind, "service", one.model, hears, speed, here, one.reference == default.model)


def _of_environment(
    settings: Settings, speech: schemas.ModelDefault, chat: schemas.ModelDefault, speeds: Mapping[str, float]
) -> list[schemas.Model]:
    found = []
    if settings.speech_url:
        model = settings.speech_model or "whisper-1"
        speed, here = _speed(f"openai_compatible/{model}", speeds)
        is_default = speech.model == ENVIRONMENT
        found.append(_elsewhere(ENVIRONMENT, "speech", ENVIRONMENT, model, list(WHISPER), speed, here, is_default))
    if settings.chat_url:
        is_default = chat.model == ENVIRONMENT
        found.append(_elsewhere(ENVIRONMENT, "chat", ENVIRONMENT, settings.chat_model, None, None, False, is_default))
    return found


def _elsewhere(  # noqa: PLR0917  (they are the columns of a row)
    name: str, kind: Kind, at: str, model: str, hears: list[str] | None, speed: float | None, here: bool, default: bool
) -> schemas.Model:  # fmt: skip
    return schemas.Model.model_validate(
        {
            "name": name, "kind": kind, "at": at, "model": model, "state": "ready", "hears": hears,
            "detects": hears is not None, "bytes": None, "speed": speed, "speed_measured": here, "note": None,
            "pulled": False, "default": default, "pull": None,
        }
    )  # fmt: skip


def _speed(name: str, speeds: Mapping[str, float]) -> tuple[float | None, bool]:
    if name in speeds:
        return round(speeds[name], 2), True
    return known_speed(name), False


def _pull(job: Job | None) -> schemas.ModelPull | None:
    if job is None:
        return None
    error = job.error or {}
    return schemas.ModelPull.model_validate(
        {
            "job_id": job.id, "state": job.state.value, "bytes": job.progress_current, "of_bytes": job.progress_total,
            "error": error.get("message"), "remedy": error.get("remedy"),
        }
    )  # fmt: skip
