"""Signatures of outgoing webhooks: how a message is signed, and how whoever receives it makes sure that it is ours.

`Towpath-Signature: v1=<hex>` is the HMAC-SHA256 of `{id}.{timestamp}.{body}` under the webhook's secret, where id and
timestamp are the headers of those names and the body is the bytes as they came. This file needs nothing but Python.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping

ID, TIMESTAMP, SIGNATURE = "Towpath-Id", "Towpath-Timestamp", "Towpath-Signature"
_VERSION = "v1"


class InvalidSignature(ValueError):
    """The message is not from whoever shares the secret, or it is too old to be believed."""


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """The value of the signature header."""
    return f"{_VERSION}={_digest(secret, message_id, str(timestamp), body)}"


def verify_signature(
    secret: str, headers: Mapping[str, str], body: bytes, tolerance: float = 300, *, now: float | None = None
) -> str:
    """The message's id, if it was signed with the secret and sent within `tolerance` seconds; else InvalidSignature.

    A message may come more than once, with the same id. Give the body as it was received, before any parsing.
    """
    given = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp, signatures = (given.get(name.lower(), "") for name in (ID, TIMESTAMP, SIGNATURE))
    if not (message_id and timestamp and signatures):
        raise InvalidSignature(f"the headers {ID}, {TIMESTAMP} and {SIGNATURE} must all be there")
    expected = f"{_VERSION}={_digest(secret, message_id, timestamp, body)}".encode()
    if not any(hmac.compare_digest(expected, one.strip().encode()) for one in signatures.split(",")):
        raise InvalidSignature("the signature is not that of this body under this secret")
    age = (time.time() if now is None else now) - _seconds(timestamp)
    if abs(age) > tolerance:
        raise InvalidSignature(f"it was sent {age:.0f} s ago by its own account, and {tolerance:g} s are allowed")
    return message_id


def _digest(secret: str, message_id: str, timestamp: str, body: bytes) -> str:
    signed = f"{message_id}.{timestamp}.".encode() + body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _seconds(timestamp: str) -> int:
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 15):
        raise InvalidSignature(f"{TIMESTAMP} is a number of seconds since 1970")
    return int(timestamp)
