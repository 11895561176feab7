"""Why a document is not read, in words for whoever sent it."""

from __future__ import annotations


class Refused(Exception):
    """`why` is one word of `towpath.extraction.errors.Why`; the message and the remedy are for people."""

    def __init__(self, why: str, what: str, remedy: str) -> None:
        super().__init__(what)
        self.why, self.remedy = why, remedy


def encrypted(kind: str) -> Refused:
    return Refused("encrypted", f"the {kind} is encrypted and cannot be read without its password",
                   "take the password off, and send it again")  # fmt: skip


def damaged(kind: str, reason: str) -> Refused:
    return Refused(
        "damaged",
        f"the file has the form of a {kind} and cannot be read ({reason}); it may be damaged or only a part of it",
        "open it where it comes from, save it anew and send the whole file",
    )  # fmt: skip
