"""Webhooks of Azure's Speech service: HMAC-SHA256 of the body, in base64, by a secret that the webhook was registered with.

The signature covers no time, so that an old notice cannot be told from a new one. It leads to one more look at a job.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from urllib.parse import urlsplit

_SIGNATURE = "x-microsoftspeechservices-signature"
_EVENT = "x-microsoftspeechservices-event"
_COMPLETED = "transcriptioncompletion"


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
