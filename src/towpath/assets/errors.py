"""What can go wrong with an asset, whoever asks: a command, an operation, a route. HTTP makes problem documents of it.

AssetRefused      the file is not taken: too large, over the quota, not of a kind that was asked for
AssetNotFound     no asset has this id, or it is another tenant's
Misplaced         bytes were sent for another place than where the upload goes on
MediaUnreadable   it has the form of audio or video, and cannot be decoded
"""

from __future__ import annotations

from typing import Literal

from towpath import Fatal, SchemaInvalid, TowpathError

Why = Literal["unfit", "too_large", "no_room", "too_many", "not_allowed"]
"""What is in the way: the file or an option of it, its size, the tenant's quota, the other uploads, or who sends it."""


class AssetRefused(SchemaInvalid):
    """Not taken, and nothing of it was kept. `path` names the option that does not fit, if it is one."""

    def __init__(self, message: str, *, remedy: str | None, why: Why = "unfit", path: str | None = None) -> None:
        super().__init__(message, path=path, remedy=remedy)
        self.why: Why = why


class AssetNotFound(Fatal, LookupError):
    def __init__(self, asset_id: str) -> None:
        super().__init__(f"no asset has the id {asset_id[:100]!r}; it may have been deleted")


class Misplaced(TowpathError):
    """The bytes do not go where the upload goes on; somebody else may have sent them."""

    def __init__(self, given: int, expected: int) -> None:
        super().__init__(f"the upload goes on at byte {expected:,}, and not at {given:,}")
        self.remedy = f"send the rest from byte {expected:,} on"
        self.expected = expected


class MediaUnreadable(SchemaInvalid):
    """The same file will fail the same way: it has to be made anew."""


def abandoned() -> AssetRefused:
    return AssetRefused("the upload was abandoned or deleted before it was complete", remedy="send the file again")


def handing_over_cancelled() -> AssetRefused:
    return AssetRefused(
        "the job that was to hand the file over was cancelled", remedy="send the file again, if it should be taken after all"
    )


def too_large(given: int | None, most: int) -> AssetRefused:
    size = "more than that" if given is None else f"{given:,} bytes"
    return AssetRefused(
        f"the file is too large: this server takes files up to {most:,} bytes, and this one has {size}",
        remedy="send a smaller file, or raise TOWPATH_MAX_UPLOAD_BYTES", why="too_large",
    )  # fmt: skip


def longer_than_announced(length: int) -> AssetRefused:
    return AssetRefused(
        f"the upload was announced with {length:,} bytes, and more have come",
        remedy="make a new upload with the right length", why="too_large",
    )  # fmt: skip


def too_many_open(most: int) -> AssetRefused:
    have = "1 upload open" if most == 1 else f"{most:,} uploads open"
    return AssetRefused(
        f"this account has {have}, and may not begin another",
        remedy="finish them or give them up first, or raise TOWPATH_OPEN_UPLOADS_PER_ACCOUNT", why="too_many",
    )  # fmt: skip


def over_quota(used: int, quota: int, wanted: int | None) -> AssetRefused:
    size = "this file has more than what is left" if wanted is None else f"this file has {wanted:,}"
    return AssetRefused(
        f"there is no room left: {used:,} of {quota:,} bytes are taken, and {size}",
        remedy="delete what is no longer needed, or raise TOWPATH_UPLOAD_QUOTA_BYTES", why="no_room",
    )  # fmt: skip
