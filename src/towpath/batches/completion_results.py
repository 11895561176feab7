"""The results of a completion: a line for each request and model, with what was said and the provider's own answer."""

from __future__ import annotations

from typing import Any


def answer_line(asked: dict[str, Any], model: str | None, response: Any, error: Any) -> dict[str, Any]:
    text, own = _taken_apart(response)
    return {"custom_id": asked["custom_id"], "model": model, "text": text, "response": own, "error": error}


def _taken_apart(response: Any) -> tuple[str | None, Any]:
    """Adapters have put what was said beside their provider's own answer; LOCAL answers as its chat service does."""
    if isinstance(response, dict) and set(response) == {"text", "raw"}:
        return response["text"], response["raw"]
    return text_of(response), response


def text_of(response: Any) -> str | None:
    """What the model said, out of an answer in any of the shapes that providers have; None if it says nothing there."""
    return next((text for read in (_chat, _parts, _candidates) if (text := read(response))), None)


def _chat(response: Any) -> str | None:
    """`choices[0].message.content`: OpenAI's, and of everybody who speaks like it."""
    found = _at(response, "choices", 0, "message", "content")
    return found if isinstance(found, str) else _texts(found)


def _parts(response: Any) -> str | None:
    """`content[].text`: Anthropic's."""
    return _texts(_at(response, "content"))


def _candidates(response: Any) -> str | None:
    """`candidates[0].content.parts[].text`: Google's."""
    return _texts(_at(response, "candidates", 0, "content", "parts"))


def _texts(parts: Any) -> str | None:
    if not isinstance(parts, list):
        return None
    return "".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _at(value: Any, *path: str | int) -> Any:
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and len(value) > step:
            value = value[step]
        else:
            return None
    return value
