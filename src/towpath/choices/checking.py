"""What is wrong with a choice of model and language, said before anything is queued."""

from __future__ import annotations

from importlib.util import find_spec

from towpath.choices.overlay import ENGINES, chosen, no_model, overlaid
from towpath.choices.records import ENVIRONMENT, SERVICE, Chosen
from towpath.core.errors import ConfigurationError, SchemaInvalid
from towpath.engine.app import App
from towpath.models.inventory import entries
from towpath.models.languages import primary
from towpath.models.pulling import WHISPER_MODELS
from towpath.models.settings import ModelSettings, models_dir
from towpath.models.speech import check_language

_USUAL = ("", "default")


async def checked_hearing(app: App, model: str | None, language: str | None) -> tuple[str | None, str | None]:
    """Model and language as they are kept; SchemaInvalid for a model that is not here, and for a language it does not hear.

    None instead of a model is: as people have chosen for all, or the settings say.
    """
    reference = model_from(model)
    known = await chosen(app.services.store)
    check_reference(app.settings, known, "speech", reference)
    settings = overlaid(app, known, speech=reference)
    asked = reference or known.defaults.get("speech", "")
    if reference is not None or asked.startswith(SERVICE):
        _check_hears(app.settings, known, asked, language)
    return reference, check_language(settings, language)


def model_from(text: str | None) -> str | None:
    wanted = (text or "").strip()
    return None if wanted in _USUAL else wanted


def check_reference(settings: ModelSettings, known: Chosen, kind: str, reference: str | None) -> None:
    """SchemaInvalid if there is no such model here."""
    if reference is None or reference == ENVIRONMENT:
        return
    if reference.startswith(SERVICE):
        if known.service(reference, kind) is None:
            there = ", ".join(service.reference for service in known.of_kind(kind)) or "none"
            raise SchemaInvalid(
                f"no {kind} service is called {reference[:100]!r}", path="model", remedy=f"there are: {there}"
            )  # fmt: skip
        return
    engine, _, model = reference.partition("/")
    if engine not in ENGINES or not model or kind != "speech":
        raise no_model(reference)
    _check_here(settings, engine, model, reference)


def _check_here(settings: ModelSettings, engine: str, model: str, reference: str) -> None:
    missing = SchemaInvalid(
        f"the model {reference[:100]!r} is not on this machine", path="model",
        remedy=f"pull it in Settings → Models, or with towpath models pull {reference[:100]}",
    )  # fmt: skip
    if engine == "whisper":
        if model not in WHISPER_MODELS:
            raise no_model(reference)
        if find_spec("faster_whisper") is None:
            raise SchemaInvalid(
                "Whisper's library is not installed", path="model",
                remedy="pip install 'towpath[whisper]', then pull the model",
            )  # fmt: skip
        if not (models_dir(settings) / "whisper" / model / "model.bin").is_file():
            raise missing
        return
    try:
        found = next((entry for entry in entries(settings) if entry.name == reference), None)
    except ConfigurationError as error:
        raise SchemaInvalid(str(error), path="model") from None
    if found is None:
        raise no_model(reference)
    if found.state not in ("in use", "installed"):
        raise missing


def _check_hears(settings: ModelSettings, known: Chosen, reference: str, language: str | None) -> None:
    """More strictly than for what hears by default, which may have another model of the machine for another language."""
    wanted, hears = primary(language), heard_by_one(settings, known, reference)
    if wanted is not None and hears is not None and wanted not in hears:
        raise SchemaInvalid(
            f"{reference} does not hear {wanted!r}", path="language",
            remedy=f"it hears {', '.join(sorted(hears))}; choose another model for {wanted!r}, or no language",
        )  # fmt: skip


def heard_by_one(settings: ModelSettings, known: Chosen, reference: str) -> tuple[str, ...] | None:
    """None where nobody has said what it hears."""
    service = known.service(reference, "speech")
    if service is not None:
        return service.languages
    return next((entry.hears for entry in entries(settings) if entry.name == reference), None)
