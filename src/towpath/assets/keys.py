"""Where the bytes of an asset lie in the blob store, and what its jobs are found by. Nothing in a key comes from a user."""

from __future__ import annotations

import secrets

SUBJECT = "upload"
"""The kind of what a job works on that hands an upload over; the id is the upload's."""
FINISH = "assets.finish"
"""The operation that does so."""


def folder_of(asset_id: str) -> str:
    """All that is stored of an asset lies below."""
    return f"assets/{asset_id}"


def content_key(asset_id: str) -> str:
    return f"{folder_of(asset_id)}/content"


def parts_of(asset_id: str) -> str:
    return f"{folder_of(asset_id)}/parts"


def new_part_key(asset_id: str, start: int) -> str:
    """Another one every time: of two requests that go on from the same place, neither overwrites the other's bytes."""
    return f"{parts_of(asset_id)}/{start:020}-{secrets.token_hex(8)}"
