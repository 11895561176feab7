"""Passwords: which are good enough, and how they are hashed without holding up the event loop."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

from towpath.core.errors import ConfigurationError, SchemaInvalid

if TYPE_CHECKING:
    from pwdlib import PasswordHash

SHORTEST, LONGEST = 12, 512
_FEWEST_CHARACTERS = 5
# What people put into a password that has to be long. It may be a part of one, but not all of it.
_OBVIOUS = (
    "password", "passwort", "passw0rd", "qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "letmein", "welcome", "iloveyou",
    "administrator", "admin", "changeme", "secret", "default", "towpath", "monkey", "dragon", "football", "baseball",
    "sunshine", "princess", "trustno", "superman", "correcthorsebatterystaple",
)  # fmt: skip
_RUNS = "01234567890123456789abcdefghijklmnopqrstuvwxyz"

# One at a time is 64 MiB and a core; a crowd of log-ins waits its turn rather than taking the machine.
_THREADS = ThreadPoolExecutor(2, "towpath-password")


def check(password: str, name: str) -> str:
    """Refuses what would be guessed first. Length is what counts: there are no rules about kinds of characters."""
    reason = _weakness(password, name.casefold())
    if reason is not None:
        raise SchemaInvalid(reason, path="password", remedy="a few words of your own, put together, are easy to remember")
    return password


def _weakness(password: str, name: str) -> str | None:
    text = password.casefold()
    if len(password) < SHORTEST:
        return f"must have at least {SHORTEST} characters"
    if len(password) > LONGEST:
        return f"must have at most {LONGEST} characters"
    if len(set(text)) < _FEWEST_CHARACTERS:
        return f"must have at least {_FEWEST_CHARACTERS} different characters"
    if text in _RUNS * 2 or text[::-1] in _RUNS * 2:
        return "must be more than a run of letters or digits"
    rest = re.sub(r"[\W\d_]+", "", text.replace(name, "")) if name else text
    for word in _OBVIOUS:
        rest = rest.replace(word, "")
    return "must be more than the name or a common word with digits" if len(rest) < 4 and text != rest else None


@cache
def _hasher() -> PasswordHash:
    try:
        from pwdlib import PasswordHash
    except ImportError:
        raise ConfigurationError("passwords need the server's parts; install them: pip install 'towpath[server]'") from None
    return PasswordHash.recommended()


@cache
def _nobodys() -> str:
    return _hasher().hash("nobody has this password")


async def hashed(password: str) -> str:
    return await asyncio.get_running_loop().run_in_executor(_THREADS, lambda: _hasher().hash(password))


async def verify(password: str, known: str | None) -> tuple[bool, str | None]:
    """Whether it is the one, and a new hash if the known one should be made anew. Takes as long for nobody's password as
    for somebody's."""

    def work() -> tuple[bool, str | None]:
        right, better = _hasher().verify_and_update(password, known or _nobodys())
        return right and known is not None, better

    return await asyncio.get_running_loop().run_in_executor(_THREADS, work)
