"""Webhooks of Azure's Speech service: HMAC-SHA256 of the body, in base64, by a secret that the webhook was registered with.

The signature covers no time, so that an old notice cannot be told from a new one. It leads to one more look at a job.

A webhook that was just registered is dead until its address has answered a challenge with the token of its query.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

_SIGNATURE = "x-microsoftspeechservices-signature"
_EVENT = "x-microsoftspeechservices-event"
_COMPLETED = "transcriptioncompletion"
_CHALLENGE = "challenge"
_TOKEN = re.compile(r"[0-9A-Za-z_.~-]{1,200}")


def told_job(secret: str, headers: Mapping[str, str], body: bytes) -> str | None:
    given = {name.lower(): value for name, value in headers.items()}
    expected = base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest())
    if not secret or not hmac.compare_digest(expected, given.get(_SIGNATURE, "").encode()):
        return None
    if given.get(_EVENT, "").lower() != _COMPLETED:
        return None
    try:
        return urlsplit(json.loads(body)["self"]).path.rstrip("/").rpartition("/")[2] or None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def challenged(secret: str, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
    """Only letters and digits are said after anybody: what is answered is shown as text, but nobody knows by whom."""
    event = {name.lower(): value for name, value in headers.items()}.get(_EVENT, "")
    token = query.get("validationToken", "")
    return token if secret and event.lower() == _CHALLENGE and _TOKEN.fullmatch(token) else None
