"""Links by which a batch provider fetches an input that lies in a directory here, for as long as the batch is under way.

A link names the batch, the input's number and the blob, and ends by itself. It is signed with a secret that is drawn for
this one batch and goes with the batch's work: from then on none of them opens anything.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass

from towpath import BlobStore
from towpath.batches.names import link_secret_key

_DRAWN = 32


@dataclass(frozen=True, slots=True)
class Opened:
    key: str
    name: str


async def draw(blobs: BlobStore, batch_id: str) -> bytes:
    """The batch's secret, made when it is first needed."""
    key = link_secret_key(batch_id)
    if await blobs.head(key) is None:
        await blobs.put(key, secrets.token_bytes(_DRAWN))
    return await blobs.get(key)


def link(base_url: str, secret: bytes, batch_id: str, number: int, opened: Opened, until: float) -> str:
    """`until` is seconds since 1970. What opens it stands behind the question mark, and so in no log."""
    told = _packed(json.dumps([opened.key, opened.name, int(until)]).encode())
    mac = _packed(_mac(secret, batch_id, number, told))
    return f"{base_url.rstrip('/')}/api/batch-inputs/{batch_id}/{number}?token={told}.{mac}"


async def opened(blobs: BlobStore, batch_id: str, number: int, token: str, now: float) -> Opened | None:
    """What a link opens; None for one that is not ours, was changed, has ended, or is of a batch that has."""
    told, _, mac = token.partition(".")
    if await blobs.head(link_secret_key(batch_id)) is None:
        return None
    secret = await blobs.get(link_secret_key(batch_id))
    if not hmac.compare_digest(_packed(_mac(secret, batch_id, number, told)).encode(), mac.encode()):
        return None
    key, name, until = json.loads(_unpacked(told))
    return Opened(key, name) if now < until else None


def _mac(secret: bytes, batch_id: str, number: int, told: str) -> bytes:
    return hmac.digest(secret, f"{batch_id}/{number}/{told}".encode(), hashlib.sha256)


def _packed(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _unpacked(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
