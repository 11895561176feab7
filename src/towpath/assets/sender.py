"""Who sends a file. Whoever that is to a server, here it is four facts, none of them a secret: they are kept with an upload
until it has been handed over, by whichever process that is then."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sender:
    """`may` are the things that not everybody may do, such as `priority`. Without an account it is the tenant itself, as
    from the command line."""

    tenant: str
    account_id: str | None = None
    name: str | None = None
    may: Collection[str] = frozenset()

    def as_json(self) -> str:
        facts = {"tenant": self.tenant, "account_id": self.account_id, "name": self.name, "may": sorted(self.may)}
        return json.dumps(facts)


def sender_from(text: str) -> Sender:
    facts = json.loads(text)
    return Sender(facts["tenant"], facts["account_id"], facts["name"], frozenset(facts["may"]))
