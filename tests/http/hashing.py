"""Passwords without the wait."""

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from towpath.identity import passwords


def hash_quickly(monkeypatch):
    """Real argon2id, at the lowest cost there is."""
    quick = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))
    monkeypatch.setattr(passwords, "_hasher", lambda: quick)
    passwords._nobodys.cache_clear()
