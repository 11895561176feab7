"""Settings as people have chosen them: the choice is laid over what the environment says.

What was chosen for one recording counts before what was chosen for all, and that before the environment. `environment` is
what stands in the settings, whatever was chosen since.
"""

from __future__ import annotations

from dataclasses import replace

from towpath.choices.records import ENVIRONMENT, NONE, SERVICE, Chosen, Service, service_from
from towpath.choices.vault import opened
from towpath.config import Settings
from towpath.core.errors import Fatal, SchemaInvalid
from towpath.engine.app import App
from towpath.store.contract import Store, Tx

ENGINES = {"moonshine": "moonshine", "whisper": "faster_whisper"}
"""How models are called that are on the machine, and the engine that has them."""


async def chosen(store: Store) -> Chosen:
    async def unit(tx: Tx) -> Chosen:
        services = [service_from(row) for row in await tx.fetch("model_services")]
        defaults = {row["kind"]: row["model"] for row in await tx.fetch("model_choices")}
        return Chosen({service.name: service for service in services}, defaults)

    return await store.read(unit)


async def settings_of(app: App, *, speech: str | None = None, with_keys: bool = False) -> Settings:
    """What counts: `speech` is what was chosen for one recording. Only whoever asks a service needs the keys."""
    return overlaid(app, await chosen(app.services.store), speech=speech, with_keys=with_keys)


async def default_hearing(app: App) -> str | None:
    """Who hears what nobody was chosen for; None: whom the settings choose."""
    return (await chosen(app.services.store)).defaults.get("speech")


def overlaid(app: App, known: Chosen, *, speech: str | None = None, with_keys: bool = False) -> Settings:
    hearing = speech or known.defaults.get("speech")
    settings = _with_speech(app, known, app.settings, hearing, with_keys=with_keys)
    return _with_chat(app, known, settings, known.defaults.get("chat"), with_keys=with_keys)


def _with_speech(app: App, known: Chosen, settings: Settings, reference: str | None, *, with_keys: bool) -> Settings:
    if reference is None or reference == ENVIRONMENT:
        return settings
    if reference.startswith(SERVICE):
        service = known.service(reference, "speech")
        if service is None:
            raise gone(reference)
        return replace(
            settings, speech_engine="openai_compatible", speech_url=service.url, speech_model=service.model,
            speech_key=_key(app, service) if with_keys else "",
        )  # fmt: skip
    engine, _, _model = reference.partition("/")
    if engine not in ENGINES:
        raise no_model(reference)
    return replace(settings, speech_engine=ENGINES[engine], speech_model=reference, speech_url="", speech_key="")


def _with_chat(app: App, known: Chosen, settings: Settings, reference: str | None, *, with_keys: bool) -> Settings:
    if reference is None or reference == ENVIRONMENT:
        return settings
    if reference == NONE:
        return replace(settings, chat_url="", chat_key="", chat_model="")
    service = known.service(reference, "chat")
    if service is None:
        raise gone(reference)
    return replace(
        settings, chat_url=service.url, chat_model=service.model, chat_key=_key(app, service) if with_keys else ""
    )  # fmt: skip


def _key(app: App, service: Service) -> str:
    return "" if service.secret is None else opened(app, service.secret, service.name, service.url)


def gone(reference: str) -> Fatal:
    return Fatal(
        f"the model {reference[:100]!r} was chosen, and there is no such service any more",
        remedy="process it again with another model, or set the service up again in Settings → Models",
    )


def no_model(reference: str) -> SchemaInvalid:
    return SchemaInvalid(
        f"there is no model {reference[:100]!r}", path="model",
        remedy="names are like moonshine/base-en, whisper/small or service/NAME; Settings → Models and towpath models list "
        "have them all",
    )  # fmt: skip
