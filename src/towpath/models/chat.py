"""Chat models behind any OpenAI-compatible `/chat/completions`."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from towpath.core.errors import ConfigurationError
from towpath.models.settings import ModelSettings
from towpath.models.wire import Service, service

_PATH = "/chat/completions"
_MOST_TOKENS = 10**9
"""More than that is no count of anything, and nobody can add it up."""
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reply:
    """`tokens_in` and `tokens_out` are None where the service does not tell."""

    text: str
    model: str
    tokens_in: int | None
    tokens_out: int | None
    whole: bool
    """False if the service stopped at its token limit."""


class Chat:
    def __init__(self, asked: Service, model: str) -> None:
        self._service, self.model = asked, model

    @property
    def budget(self) -> str:
        """The name of the rate budget that a 429 of this service blocks."""
        return self._service.budget

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Chat]:
        """The same model, over connections that are kept from one request to the next."""
        async with self._service.connected() as service:
            yield Chat(service, self.model)

    async def ask(self, instructions: str, question: str) -> Reply:
        """One answer. RateLimited, Transient, SchemaInvalid or Fatal if there is none; see `wire`."""
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": question}]
        answer = await self._service.post(_PATH, json={"model": self.model, "messages": messages, "temperature": 0})
        try:
            choice = answer["choices"][0]
            text = _THOUGHT.sub("", choice["message"]["content"]).strip()
        except (KeyError, IndexError, TypeError):
            raise self._service.misshapen(answer) from None
        tokens_in, tokens_out = tokens_of(answer)
        return Reply(
            text,
            str(answer.get("model") or self.model),
            tokens_in,
            tokens_out,
            whole=choice.get("finish_reason") != "length",
        )

    async def complete(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What the service answers to a request as its own API has it, word for word."""
        return await self._service.post(_PATH, json={**body, "model": self.model, "stream": False})


def tokens_of(answer: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Tokens in and out, as far as the service tells."""
    usage = answer.get("usage")
    return _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")


def client_for(settings: ModelSettings, model: str | None = None) -> Chat | None:
    """None if no chat service is configured. `model` is asked instead of the one of the settings."""
    if not settings.chat_url:
        return None
    chosen = model or settings.chat_model
    if not chosen:
        raise ConfigurationError("TOWPATH_CHAT_URL is set and TOWPATH_CHAT_MODEL is not: name the model to ask")
    asked = service("chat", settings.chat_url, settings.chat_key, settings.model_timeout_seconds)
    return Chat(asked, chosen)


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None
