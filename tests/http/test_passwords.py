"""Which passwords are taken, and how they are kept."""

import asyncio
import threading

import pytest
from pwdlib import PasswordHash

from tests.http.site import PASSWORD
from towpath import SchemaInvalid
from towpath.identity import passwords


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("short", "at least 12"),
        ("x" * 600, "at most 512"),
        ("aaaaaaaaaaaaaaaa", "different characters"),
        ("abababababab", "different characters"),
        ("123456789012", "a run"),
        ("abcdefghijklmn", "a run"),
        ("nmlkjihgfedcba", "a run"),
        ("password1234", "common word"),
        ("Qwertyuiop!!12", "common word"),
        ("Alice.Liddell2024", "the name"),
        ("ALICE.LIDDELL!!", "the name"),
    ],
)
def test_what_would_be_guessed_first_is_refused(password, why):
    with pytest.raises(SchemaInvalid, match=why) as caught:
        passwords.check(password, "alice.liddell")
    assert caught.value.path == "password"
    assert password not in str(caught.value)


@pytest.mark.parametrize(
    "password", ["four quiet barges pass", "passwords are silly things", "naïve Füchse 42", "zK9#vT2$qL5m"]
)
def test_anything_else_of_some_length_is_taken_whatever_it_is_made_of(password):
    assert passwords.check(password, "alice") == password


async def test_a_password_is_kept_as_argon2id_and_only_it_fits(full_cost):
    kept = await passwords.hashed("four quiet barges pass")
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,")
    assert (await passwords.verify("four quiet barges pass", kept))[0]
    assert not (await passwords.verify("four quiet barges Pass", kept))[0]


async def test_a_hash_that_was_made_cheaper_is_made_anew_when_its_password_is_used(site, monkeypatch):
    await site.account("alice")
    monkeypatch.setattr(passwords, "_hasher", PasswordHash.recommended)
    answer = await site.browser().post("/api/session", json={"name": "alice", "password": PASSWORD})
    assert answer.status_code == 200
    [row] = await site.rows("SELECT password FROM towpath.account")
    assert row["password"].startswith("$argon2id$v=19$m=65536,t=3,")


async def test_nobodys_password_fits_nothing_but_is_looked_at_all_the_same():
    assert not (await passwords.verify("nobody has this password", None))[0]


async def test_hashing_leaves_the_event_loop_free(monkeypatch):
    """The loop gets its turn while a hash is being made: here it is what lets the hashing go on."""
    turn = threading.Event()

    class Slow:
        def hash(self, _password):
            assert turn.wait(30), "the event loop was held up"
            return "made"

    monkeypatch.setattr(passwords, "_hasher", Slow)
    making = asyncio.create_task(passwords.hashed("x"))
    await asyncio.sleep(0)
    turn.set()
    assert await making == "made"
