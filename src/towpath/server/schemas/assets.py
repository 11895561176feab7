"""Shapes of assets and uploads."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from towpath.server.schemas.base import Answer, Moment


class Asset(Answer):
    """A file that was uploaded."""

    id: str
    tenant: str
    name: Annotated[str, Field(description="What the file was called; to be shown, escaped, and for nothing else.")]
    media_type: Annotated[str, Field(description="What its content is, whatever was claimed.")]
    bytes: int
    sha256: str
    state: Literal["uploading", "ready", "failed"]
    created_at: Moment


class AssetUsage(Answer):
    """What a tenant's files take up, uploads under way included."""

    bytes: int
    assets: int
    quota: Annotated[int | None, Field(description="How much they may take up; null: there is no limit.")]


class UploadError(Answer):
    """Why an upload failed, or why it is stuck."""

    detail: str
    remedy: str | None
    status: int


class Upload(Answer):
    """A resumable upload, and what became of it."""

    id: Annotated[str, Field(description="Also the id of the asset it becomes.")]
    name: str
    state: Annotated[
        Literal["uploading", "finishing", "stuck", "done", "failed"],
        Field(
            description="`finishing`: all bytes are there, and it is being handed over. `stuck`: the job that does so has "
            "failed and is in the inbox; it goes on when that is retried."
        ),
    ]
    length: int
    received: int
    purpose: str
    result: Annotated[dict[str, Any] | None, Field(description="What was made of it: for a recording `id` and `job_id`.")]
    error: UploadError | None
