"""The kinds of problems this server answers with: the last part of each `type`, what it means, and what to do about it.

A program tells problems apart by these names and by the status; they stay as they are. People find them explained at
`/problems/<name>` of any server and in docs/reference/problems.md, both made from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Slug = Literal[
    "invalid", "unauthenticated", "login_refused", "forbidden", "csrf", "not_found", "conflict", "too_large", "throttled",
    "internal", "unavailable",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    statuses: tuple[int, ...]
    meaning: str
    remedy: str


KINDS: dict[Slug, Kind] = {
    "invalid": Kind(
        (400, 405, 412, 415, 416, 422),
        "The request cannot be read, or something in it does not fit: a field, a parameter, its type, its method.",
        "Read `detail`; `errors` names each part that does not fit. Sending the same again does not help.",
    ),
    "unauthenticated": Kind(
        (401,),
        "There is no session and no API token, or it has expired or was revoked.",
        "Log in again, or send `Authorization: Bearer tow_…` with a token that holds.",
    ),
    "login_refused": Kind(
        (401,),
        "A log-in did not succeed. It is never told whether the name, the password or the account was the reason.",
        "Check what you typed, or ask for a fresh link: an administrator makes one by which you choose a new password.",
    ),
    "forbidden": Kind(
        (403,),
        "Whoever calls is known, but may not do this: a scope is missing, or it is for another tenant.",
        "Use a token that has the scope which `detail` names, switch to the tenant, or ask an administrator.",
    ),
    "csrf": Kind(
        (403,),
        "A browser's session was used from a page that is not this server's own.",
        "Programs use an API token. Behind a proxy, set TOWPATH_TRUSTED_PROXIES or TOWPATH_BASE_URL.",
    ),
    "not_found": Kind(
        (404, 410),
        "Nothing has this address or id. What belongs to another tenant answers the same.",
        "Check the id; what it named may have been deleted or pruned.",
    ),
    "conflict": Kind(
        (409,),
        "The request is right, but does not fit the state that things are in: a job has ended, a name is taken.",
        "Look at the state first; `detail` says what is in the way.",
    ),
    "too_large": Kind(
        (413,),
        "The body, the payload or the file is larger than this server takes, or the tenant's room is used up.",
        "Send less, or ask an administrator to raise the limit.",
    ),
    "throttled": Kind(
        (429,),
        "There were too many attempts to log in, or there are too many open streams or uploads.",
        "Wait for as many seconds as the header `Retry-After` says. Uploads: finish or give up those that are open.",
    ),
    "internal": Kind(
        (500,),
        "The server met an error it did not expect. What it was is in its log, under the id in `instance`.",
        "Try again; if it goes on, tell whoever runs the server that id.",
    ),
    "unavailable": Kind(
        (503,),
        "The database or something else behind the server does not answer, or the server is about to stop.",
        "Try again after as many seconds as the header `Retry-After` says. What was asked for may have been done: an "
        "`Idempotency-Key` makes it harmless to ask again.",
    ),
}
