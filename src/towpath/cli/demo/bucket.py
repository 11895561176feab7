"""A Cloud Storage for the demonstration: what is staged for Google's providers goes there, and they write there."""

from __future__ import annotations

import secrets
from functools import cached_property
from typing import Any

from towpath.cli.demo.scenes import BUCKET
from towpath.providers.simulator import Simulator

STAGING_URL = f"gs://{BUCKET}/staged"


class Bucket(Simulator):
    """Its `files` are also those of the simulators that are given them."""

    name = "bucket"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._token = secrets.token_hex(16)

    @cached_property
    def app(self) -> Any:
        from starlette.applications import Starlette

        from towpath.providers.simulator.cloud_storage import CloudStorage

        return Starlette(routes=CloudStorage(self, self._token).routes)

    @property
    def environment(self) -> dict[str, str]:
        """What the library for object stores has to read so that `gs://` is here, once it is served."""
        from towpath.providers.simulator.cloud_storage import PREFIX

        return {
            "GOOGLE_BASE_URL": f"{self.url}{PREFIX}", "GOOGLE_BEARER_TOKEN": self._token, "GOOGLE_ALLOW_HTTP": "true",
        }  # fmt: skip
