"""The audit log."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from towpath.server.schemas.base import Answer, Moment


class AuditLine(Answer):
    """One thing that was done."""

    id: str
    at: Moment
    account_id: str | None
    account: Annotated[str | None, Field(description="The account's name at the time.")]
    via: Annotated[str, Field(description="`session`, `token`, `local`, `cli`, or `nobody` where nobody was logged in.")]
    tenant: str | None
    action: str
    target: str | None
    address: Annotated[str | None, Field(description="Where the request came from.")]
    request_id: str | None
    details: dict[str, Any] | None
