"""What a simulated model answers: the same to the same question, and as many tokens as it has words."""

from __future__ import annotations

from typing import Any


def reply_to(message: str) -> str:
    return f"You said: {message}"


def tokens(text: str) -> int:
    return max(1, len(text.split()) * 4 // 3)


def text_of(content: Any) -> str:
    """A message's content: a text, or parts of which some are text."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content or ())


def last_of(messages: list[dict[str, Any]], role: str = "user", field: str = "content") -> str:
    """What was said last in that role."""
    return next((text_of(message[field]) for message in reversed(messages) if message.get("role") == role), "")
