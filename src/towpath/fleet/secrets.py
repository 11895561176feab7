"""What a worker shows to prove that a task was handed to it, and links to objects in this installation's own storage.

Both are made of a key that is drawn for one attempt and forgotten with it. A link opens one object with one method until
a moment that stands in it; when its attempt has ended it opens nothing any more.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass

GET, PUT = "GET", "PUT"


def draw() -> str:
    return secrets.token_urlsafe(32)


def task_secret(link_key: str, task_id: str, attempt: int) -> str:
    """The same one whenever the message is made anew, so that it does not matter which of two copies a worker has."""
    return _mac(link_key, f"secret/{task_id}/{attempt}")


def holds(link_key: str, task_id: str, attempt: int, shown: str) -> bool:
    return hmac.compare_digest(task_secret(link_key, task_id, attempt).encode(), shown.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Link:
    base_url: str
    link_key: str
    task_id: str
    attempt: int

    def url(self, method: str, until: float) -> str:
        token = f"{method}.{int(until)}.{_mac(self.link_key, self._about(method, int(until)))}"
        return f"{self.base_url.rstrip('/')}/api/fleet/objects/{self.task_id}/{self.attempt}?token={token}"

    def opens(self, method: str, token: str, now: float) -> bool:
        told, _, rest = token.partition(".")
        until, _, mac = rest.partition(".")
        if told != method or not until.isdecimal() or len(until) > 12 or now >= int(until):
            return False
        return hmac.compare_digest(_mac(self.link_key, self._about(method, int(until))).encode(), mac.encode())

    def _about(self, method: str, until: int) -> str:
        return f"link/{method}/{self.task_id}/{self.attempt}/{until}"


def _mac(link_key: str, about: str) -> str:
    made = hmac.digest(link_key.encode(), about.encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(made).decode().rstrip("=")
