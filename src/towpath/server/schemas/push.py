"""What Pub/Sub pushes."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class PushedMessage(BaseModel):
    model_config = ConfigDict(extra="ignore")  # Google adds fields as it likes

    message_id: str = Field(alias="messageId", min_length=1, max_length=200)
    attributes: dict[str, str] = {}


class Pushed(BaseModel):
    """A message, as a push subscription of Pub/Sub delivers it."""

    model_config = ConfigDict(extra="ignore")

    message: PushedMessage
