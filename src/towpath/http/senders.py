"""Whoever makes a request, as a sender of files."""

from __future__ import annotations

from towpath.assets import Sender
from towpath.identity.principal import Principal


def sender_of(principal: Principal) -> Sender:
    return Sender(principal.tenant, principal.account_id, principal.name, principal.scopes)
