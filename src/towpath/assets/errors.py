"""What can go wrong with an asset. Each is a problem document for HTTP and has a category for operations.

AssetRefused      the file is not taken: too large, over the quota, not of a kind that was asked for
AssetNotFound     no asset has this id, or it is another tenant's
MediaUnreadable   it has the form of audio or video, and cannot be decoded
"""

from __future__ import annotations

from towpath.core.errors import Fatal, SchemaInvalid
from towpath.http.problem import Problem
from towpath.http.problem_kinds import Slug


class AssetRefused(Problem, SchemaInvalid):
    """Not taken, and nothing of it was kept."""

    def __init__(self, detail: str, *, remedy: str, slug: Slug = "invalid", status: int = 422) -> None:
        super().__init__(slug, status, detail, remedy=remedy)

    def __str__(self) -> str:
        return self.detail


class AssetNotFound(Problem, Fatal, LookupError):
    def __init__(self, asset_id: str) -> None:
        super().__init__("not_found", 404, f"no asset has the id {asset_id[:100]!r}; it may have been deleted")


class MediaUnreadable(SchemaInvalid):
    """The same file will fail the same way: it has to be made anew."""


def abandoned() -> AssetRefused:
    return AssetRefused("the upload was abandoned or deleted before it was complete", remedy="send the file again")


def too_large(given: int | None, most: int) -> AssetRefused:
    size = "more than that" if given is None else f"{given:,} bytes"
    return AssetRefused(
        f"the file is too large: this server takes files up to {most:,} bytes, and this one has {size}",
        remedy="send a smaller file, or raise TOWPATH_MAX_UPLOAD_BYTES", slug="too_large", status=413,
    )  # fmt: skip


def too_many_open(most: int) -> AssetRefused:
    have = "1 upload open" if most == 1 else f"{most:,} uploads open"
    return AssetRefused(
        f"this account has {have}, and may not begin another",
        remedy="finish them or give them up first, or raise TOWPATH_OPEN_UPLOADS_PER_ACCOUNT", slug="throttled", status=429,
    )  # fmt: skip


def over_quota(used: int, quota: int, wanted: int | None) -> AssetRefused:
    size = "this file has more than what is left" if wanted is None else f"this file has {wanted:,}"
    return AssetRefused(
        f"there is no room left: {used:,} of {quota:,} bytes are taken, and {size}",
        remedy="delete what is no longer needed, or raise TOWPATH_UPLOAD_QUOTA_BYTES", slug="too_large", status=413,
    )  # fmt: skip
