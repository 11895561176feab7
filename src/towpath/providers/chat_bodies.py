"""A chat body as OpenAI words it, read for providers that word it differently.

What a provider has no counterpart for is refused request by request, with its name: an answer to another question than the
one that was asked costs as much and is worth nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_SYSTEM = ("system", "developer")
_ROLES = (*_SYSTEM, "user", "assistant")
_HARMLESS: Mapping[str, tuple[Any, ...]] = {"n": (1,), "stream": (False,), "logprobs": (False,)}
"""Fields whose usual value asks for nothing."""
_UNHEARD = ("model",)
"""The order names the model."""


class Untranslatable(ValueError):
    """This request cannot be put in the provider's words; the message says what of it."""


@dataclass(frozen=True, slots=True)
class Turn:
    role: str
    """`system`, `user` or `assistant`."""
    text: str


@dataclass(frozen=True, slots=True)
class ChatBody:
    turns: tuple[Turn, ...]
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    json: bool = False
    schema: Mapping[str, Any] | None = None
    """The JSON schema that the answer is to have."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """`temperature`, `top_p` and others of the kind, under OpenAI's names, as they were given."""

    @property
    def instructions(self) -> tuple[str, ...]:
        """What the conversation begins with before anybody has spoken."""
        return tuple(turn.text for turn in self.turns[: self._first])

    @property
    def conversation(self) -> tuple[Turn, ...]:
        return self.turns[self._first :]

    @property
    def _first(self) -> int:
        return next((at for at, turn in enumerate(self.turns) if turn.role != "system"), len(self.turns))


def read(body: Mapping[str, Any], numbers: tuple[str, ...]) -> ChatBody:
    """`numbers` are the fields of that kind which the provider knows."""
    rest = {name: value for name, value in body.items() if value is not None and name not in _UNHEARD}
    turns = _turns(rest.pop("messages", None))
    limits = [rest.pop(name, None) for name in ("max_completion_tokens", "max_tokens")]
    stop = rest.pop("stop", ())
    json, schema = _format(rest.pop("response_format", None))
    given = {name: _number(name, rest.pop(name)) for name in numbers if name in rest}
    for name, value in rest.items():
        if value not in _HARMLESS.get(name, ()):
            raise Untranslatable(f"there is nothing like {name!r}")
    read_body = ChatBody(turns, _limit(limits), _stop(stop), json, schema, given)
    if not read_body.conversation:
        raise Untranslatable("there is no message of a user's")
    return read_body


def _turns(messages: Any) -> tuple[Turn, ...]:
    if not (isinstance(messages, list) and messages):
        raise Untranslatable("'messages' is no list of messages")
    return tuple(_turn(message) for message in messages)


def _turn(message: Any) -> Turn:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        raise Untranslatable(f"a message is of no role among {', '.join(_ROLES)}")
    odd = [name for name, value in message.items() if name not in ("role", "content") and value is not None]
    if odd:
        raise Untranslatable(f"a message has {odd[0]!r}")
    role = "system" if message["role"] in _SYSTEM else str(message["role"])
    return Turn(role, _text(message.get("content")))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not (isinstance(content, list) and content):
        raise Untranslatable("a message has no text as its 'content'")
    parts = []
    for part in content:
        if not (isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)):
            raise Untranslatable("a message has a part that is no text")
        parts.append(part["text"])
    return "".join(parts)


def _limit(given: list[Any]) -> int | None:
    limit = next((value for value in given if value is not None), None)
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise Untranslatable("'max_tokens' is no positive whole number")
    return limit


def _stop(stop: Any) -> tuple[str, ...]:
    found = (stop,) if isinstance(stop, str) else stop
    if not (isinstance(found, (list, tuple)) and all(isinstance(one, str) and one for one in found)):
        raise Untranslatable("'stop' is neither a text nor a list of texts")
    return tuple(found)


def _number(name: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise Untranslatable(f"{name!r} is no number")
    return value


def _format(wanted: Any) -> tuple[bool, Mapping[str, Any] | None]:
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if wanted is None or kind == "text":
        return False, None
    if kind == "json_object":
        return True, None
    schema = (wanted.get("json_schema") or {}).get("schema") if kind == "json_schema" else None
    if not isinstance(schema, dict):
        raise Untranslatable("'response_format' is neither text, json_object nor json_schema with a schema")
    return True, schema
