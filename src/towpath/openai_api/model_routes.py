"""/v1/models: the chat model and the speech engine of the settings. Whatever else the chat service has can be named, too."""

from __future__ import annotations

from typing import Any

from towpath import App, choices
from towpath.http.policy import TokenReader
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.models.inventory import in_use
from towpath.openai_api.errors import Refused

router = Router(prefix="/v1/models")
_SINCE = 1767225600  # a date is asked for, and nobody knows one


@router.get("", name="openai_model.list")
async def list_models(_principal: TokenReader, app: Engine) -> dict[str, Any]:
    return {"object": "list", "data": [_model(name) for name in await known(app)]}


@router.get("/{model:path}", name="openai_model.get")
async def get_model(_principal: TokenReader, app: Engine, model: str) -> dict[str, Any]:
    if model not in await known(app):
        raise Refused(404, f"The model '{model[:100]}' does not exist here.", param="model", code="model_not_found")
    return _model(model)


async def known(app: App) -> list[str]:
    settings = await choices.settings_of(app)
    speech = in_use(settings)
    if speech == "openai_compatible":
        speech = settings.speech_model or "whisper-1"
    return [name for name in (settings.chat_model if settings.chat_url else None, speech) if name]


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": _SINCE, "owned_by": "towpath"}
