"""Services other than OpenAI that speak its Batch API."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from towpath.core.errors import ConfigurationError
from towpath.providers.contract import Limits
from towpath.providers.openai import OpenAI

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class OpenAICompatible(OpenAI):
    """Another service that speaks OpenAI's Batch API, at a `base_url` that usually ends in /v1.

    What belongs to OpenAI stays with OpenAI: neither its API key nor its organization, project or webhook secret is taken
    from the environment here.
    """

    limits = Limits(count=50_000, bytes=90_000_000)
    """Nobody knows; many keep to what OpenAI began with."""
    _windows = None

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str = "none",
        webhook_secret: str = "",
        timeout: float = 60.0,
        upload_timeout: float = 900.0,
    ) -> None:
        """Services that want no key get one that says so: the library does not go without."""
        super().__init__(
            api_key=api_key, base_url=base_url, webhook_secret=webhook_secret, timeout=timeout, upload_timeout=upload_timeout
        )

    @property
    def name(self) -> str:
        return "OPENAI_COMPATIBLE"

    @cached_property
    def _client(self) -> AsyncOpenAI:
        if not self._options["base_url"]:  # the library's own is OpenAI's
            raise ConfigurationError(
                f"{self.name} has to be told where: set TOWPATH_OPENAI_COMPATIBLE_URL, or give base_url, such as "
                "https://api.example.com/v1"
            )
        client = super()._client
        client.organization = client.project = None
        return client
