"""Whether a service answers: it is really asked, with a short sound or for one word."""

from __future__ import annotations

import asyncio
import math
import socket
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from towpath.choices.overlay import chosen, overlaid
from towpath.choices.records import ENVIRONMENT, SERVICE, Kind
from towpath.config import Settings
from towpath.core.errors import ConfigurationError, OperationError, SchemaInvalid
from towpath.engine.app import App
from towpath.models import chat, remote_speech
from towpath.models.speech import SAMPLE_RATE
from towpath.outbound.addresses import may_have_a_service

if TYPE_CHECKING:
    from towpath.models.speech import Samples

_PATIENCE = 30.0
_MOST = 300  # characters
_TONE = 440.0  # Hz
_RULES = "You are asked whether you are there."
_WORD = "Answer with one word: ready"


@dataclass(frozen=True, slots=True)
class Tried:
    """`said` is what it answered; of speech that may well be nothing, because a tone is no word."""

    ok: bool
    seconds: float
    said: str | None = None
    error: str | None = None
    remedy: str | None = None


async def try_service(app: App, kind: Kind, reference: str) -> Tried:
    """`service/NAME`, or `environment` for the one of the environment's settings. The key never comes back."""
    if not (reference == ENVIRONMENT or reference.startswith(SERVICE)):
        raise SchemaInvalid("only services are tried: what is on the machine has been checked", path="model")
    known = await chosen(app.services.store)
    if reference != ENVIRONMENT and known.service(reference, kind) is None:
        raise SchemaInvalid(f"no {kind} service is called {reference[:100]!r}", path="model")
    began = time.monotonic()
    try:
        one = replace(known, defaults={kind: reference})
        settings = overlaid(app, one, with_keys=True)
        settings = replace(settings, model_timeout_seconds=min(_PATIENCE, settings.model_timeout_seconds or _PATIENCE))
        await _check_address(settings.speech_url if kind == "speech" else settings.chat_url)
        said = await (_heard(settings) if kind == "speech" else _answered(settings))
    except OperationError as error:
        return Tried(ok=False, seconds=_since(began), error=str(error), remedy=error.remedy)
    except ConfigurationError as error:
        return Tried(ok=False, seconds=_since(began), error=str(error))
    return Tried(ok=True, seconds=_since(began), said=said[:_MOST])


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)


async def _check_address(url: str) -> None:
    """A name may lead to what no service is at; one that leads nowhere is told of by the request itself."""
    host = urlsplit(url).hostname or ""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return
    if not all(may_have_a_service(str(place[4][0])) for place in found):
        raise ConfigurationError(f"{host[:100]!r} leads to an address that no service is at")


async def _heard(settings: Settings) -> str:
    engine = remote_speech.engine(settings, None)
    segments = await engine.transcribe_remotely(_tone())
    return " ".join(segment.text for segment in segments)


async def _answered(settings: Settings) -> str:
    client = chat.client_for(settings)
    if client is None:
        raise ConfigurationError("there is no chat service in the environment's settings")
    return (await client.ask(_RULES, _WORD)).text


def _tone() -> Samples:
    """A second of it: silence would not be sent."""
    import numpy as np

    moments = np.arange(SAMPLE_RATE, dtype=np.float32) / SAMPLE_RATE
    return (0.2 * np.sin(2 * math.pi * _TONE * moments)).astype(np.float32)
