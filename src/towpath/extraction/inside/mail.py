"""E-mail: its head, its text, and the names of what is attached. Attachments are documents of their own, and not opened."""

from __future__ import annotations

import email
from email.message import EmailMessage
from email.policy import default
from typing import Any

from towpath.extraction.inside.asked import Asked, Read
from towpath.extraction.inside.kinds import HTML, MAIL, TEXT
from towpath.extraction.inside.library import Library

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_MOST_PARTS = 1000


def read_mail(library: Library, data: bytes, asked: Asked) -> Read:
    message = email.message_from_bytes(data, policy=default)
    assert isinstance(message, EmailMessage)
    heads = [(name, text) for name in _SHOWN if (text := _head(message, name))]
    attached = _attached(message)
    read = _body(library, message, asked)
    lines = [f"{name}: {text}" for name, text in heads]
    listed = [f"Attachment: {name}" for name in attached]
    read.pages = [(1, "\n\n".join(part for part in ("\n".join(lines), read.pages[0][1], "\n".join(listed)) if part))]
    read.kind, read.media_type, read.unit = MAIL.name, MAIL.media_type, "text"
    read.title = dict(heads).get("Subject")
    read.metadata = {name.lower(): text for name, text in heads} | ({"attachments": attached} if attached else {})
    if attached:
        read.warnings.append(f"{len(attached)} attached file{'s are' if len(attached) > 1 else ' is'} named, and not read")
    return read


def _head(message: EmailMessage, name: str) -> str:
    try:
        return str(message.get(name, "")).strip()
    except (ValueError, IndexError, AttributeError, TypeError):  # what the parser of addresses makes of garbage
        return ""


def _attached(message: EmailMessage) -> list[str]:
    found = []
    for _, part in zip(range(_MOST_PARTS), message.walk(), strict=False):
        if part.get_filename() or part.get_content_disposition() == "attachment":
            found.append(str(part.get_filename() or f"unnamed ({part.get_content_type()})"))
    return found


def _body(library: Library, message: EmailMessage, asked: Asked) -> Read:
    part = message.get_body(("plain", "html"))
    payload = _decoded(part) if part is not None else b""
    html = part is not None and part.get_content_type() == "text/html"
    if not payload.strip():
        return Read(MAIL.name, MAIL.media_type, "text", [(1, "")], "xberg", library.version)
    return library.read(payload, HTML if html else TEXT, asked)


def _decoded(part: Any) -> bytes:
    payload = part.get_payload(decode=True) or b""
    assert isinstance(payload, bytes)
    try:
        return payload.decode(part.get_content_charset("utf-8"), "replace").encode()
    except (LookupError, ValueError):
        return payload
