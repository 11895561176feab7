"""Services and defaults as administrators make, change and remove them.

Whoever does may add to the transaction by `also`, which is told the service, or its name when it is removed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from towpath.choices.checking import check_reference, model_from
from towpath.choices.overlay import chosen
from towpath.choices.records import ENVIRONMENT, KINDS, NONE, SERVICE, Kind, Service, service_from
from towpath.choices.vault import sealed
from towpath.core.encoding import encode
from towpath.core.errors import NameTaken, SchemaInvalid, TowpathError
from towpath.engine.app import App
from towpath.models.languages import primary
from towpath.outbound.addresses import may_have_a_service
from towpath.outbound.client import check_url
from towpath.store.also import Also, together
from towpath.store.contract import Tx

MOST_SERVICES = 50
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_KEY = re.compile(r"[\x21-\x7e]{1,1000}")


class ServiceNotFound(TowpathError, LookupError):
    """No service has this name."""


class StillChosen(TowpathError):
    """What is to go is the default; the message says what to do first."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an administrator says of a service. Without a key it keeps the one it has, `""` is none."""

    url: str
    model: str
    languages: Sequence[str] | None = None
    key: str | None = None


async def add_service(app: App, name: str, kind: Kind, wanted: Wanted, *, also: Also[Service] | None = None) -> Service:
    if not _NAME.fullmatch(name):
        raise SchemaInvalid(
            f"a service's name has small letters, digits, dots, - and _, at most 63, got {name[:80]!r}", path="name"
        )
    url = checked_url(wanted.url, kind)
    secret = _sealed(app, name, url, wanted.key) if wanted.key else None

    async def unit(tx: Tx) -> Service:
        if len(await tx.fetch("model_services")) >= MOST_SERVICES:
            raise SchemaInvalid(f"there are {MOST_SERVICES} services already; remove one first", path="name")
        values = _values(wanted, url) | {"secret": secret}
        if not await tx.execute("model_service_add", name=name, kind=kind, now=tx.now, **values):
            raise NameTaken(f"there is a service called {name!r} already; give this one another name")
        return await _locked(tx, name)

    return await app.services.store.run(together(unit, also))


async def change_service(app: App, name: str, wanted: Wanted, *, also: Also[Service] | None = None) -> Service:
    """A key that is kept goes to the address it was given for, and nowhere else: another address asks for it anew."""
    before = await find_service(app, name)
    url = checked_url(wanted.url, before.kind)
    if wanted.key is None and before.secret is not None and url != before.url:
        raise SchemaInvalid(
            "the key that is kept was given for another address", path="key",
            remedy="enter the key again for the new address, or remove it",
        )  # fmt: skip
    secret = _sealed(app, name, url, wanted.key) if wanted.key else None

    async def unit(tx: Tx) -> Service:
        now = await _locked(tx, name)
        if wanted.key is None and now.url != url and now.secret is not None:
            raise NameTaken(f"somebody else has just changed the service {name!r}; look at it again")
        kept = now.secret if wanted.key is None else secret
        await tx.execute("model_service_change", name=name, now=tx.now, secret=kept, **_values(wanted, url))
        return await _locked(tx, name)

    return await app.services.store.run(together(unit, also))


async def remove_service(app: App, name: str, *, also: Also[str] | None = None) -> None:
    """Its key goes with it. What was queued for it fails, and says so."""
    await find_service(app, name)

    async def unit(tx: Tx) -> str:
        gone = await _locked(tx, name)
        if any(row["model"] == gone.reference for row in await tx.fetch("model_choices")):
            raise StillChosen(f"{gone.reference} is what everything goes to by default; choose another default first")
        await tx.execute("model_service_delete", name=name)
        return name

    await app.services.store.run(together(unit, also))


async def choose(app: App, kind: Kind, model: str | None, *, also: Also[str | None] | None = None) -> None:
    """What counts from now on where nobody says otherwise; None: what the settings say."""
    reference = model_from(model)
    known = await chosen(app.services.store)
    if not (kind == "chat" and reference == NONE):
        check_reference(app.settings, known, kind, reference)

    async def unit(tx: Tx) -> str | None:
        if reference is None or reference == ENVIRONMENT:
            await tx.execute("model_choice_drop", kind=kind)
            return None
        if reference.startswith(SERVICE):  # so that nobody removes it meanwhile
            await _locked(tx, reference.removeprefix(SERVICE))
        await tx.execute("model_choice_put", kind=kind, model=reference, now=tx.now)
        return reference

    await app.services.store.run(together(unit, also))


async def find_service(app: App, name: str) -> Service:
    found = (await chosen(app.services.store)).services.get(name)
    if found is None:
        raise _missing(name)
    return found


async def check_not_chosen(app: App, reference: str) -> None:
    known = await chosen(app.services.store)
    if any(known.defaults.get(kind) == reference for kind in KINDS):
        raise StillChosen(f"{reference} is what hears by default; choose another default first")


def checked_url(url: str, kind: str) -> str:
    """Loopback and private addresses are where one's own services are, and administrators may name them. What clouds put
    beside a machine for it alone is nobody's service."""
    trimmed = url.strip().rstrip("/")
    parts = check_url(trimmed)
    if parts.query or parts.fragment:
        raise SchemaInvalid(
            f"must be the base URL of an OpenAI-compatible {kind} service, got {trimmed[:200]!r}", path="url",
            remedy="write it like https://api.example.com/v1 or http://localhost:8080/v1",
        )  # fmt: skip
    if not may_have_a_service(parts.hostname or ""):
        raise SchemaInvalid(f"no service is at {(parts.hostname or '')[:100]!r}", path="url")
    return trimmed


def _values(wanted: Wanted, url: str) -> dict[str, object]:
    if not wanted.model.strip():
        raise SchemaInvalid("name the model as the service knows it", path="model")
    languages = None
    if wanted.languages:
        tags = {primary(one) for one in wanted.languages} - {None}
        languages = encode(sorted(str(tag) for tag in tags)) if tags else None
    return {"url": url, "model": wanted.model.strip(), "languages": languages}


def _sealed(app: App, name: str, url: str, key: str) -> str:
    trimmed = key.strip()
    if not _KEY.fullmatch(trimmed):
        raise SchemaInvalid("a key has letters, digits and signs, without blanks, at most 1,000", path="key")
    return sealed(app, trimmed, name, url)


async def _locked(tx: Tx, name: str) -> Service:
    rows = await tx.fetch("model_service_lock", name=name)
    if not rows:
        raise _missing(name)
    return service_from(rows[0])


def _missing(name: str) -> ServiceNotFound:
    return ServiceNotFound(f"no service is called {name[:100]!r}; it may have been removed")
