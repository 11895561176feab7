"""Which Moonshine models their makers publish, and the files each consists of, as the library itself knows them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from towpath.models.moonshine_files import SIZES, package


@dataclass(frozen=True, slots=True)
class File:
    name: str
    url: str
    bytes: int | None
    crc32c: str | None
    """In base64."""


@dataclass(frozen=True, slots=True)
class Published:
    name: str
    language: str
    language_name: str
    size: int
    """The number the library gives to this size of model."""

    @property
    def licence(self) -> str:
        return "MIT" if self.language == "en" else "Moonshine Community License (non-commercial)"


@cache
def published() -> tuple[Published, ...]:
    package()
    from moonshine_voice.moonshine_api import moonshine_get_stt_catalog_string  # type: ignore[import-untyped]  # ships no types

    catalog = json.loads(moonshine_get_stt_catalog_string())
    return tuple(
        Published(f"{SIZES[arch]}-{language['code']}", language["code"], language["english_name"], arch)
        for language in catalog["languages"]
        for arch in (int(model["model_arch"]) for model in language["models"])
    )


def files_of(model: Published) -> list[File]:
    from moonshine_voice.moonshine_api import moonshine_get_stt_dependencies_string

    manifest = json.loads(moonshine_get_stt_dependencies_string(model.language, {"model_arch": model.size}))
    return [
        File(
            item["name"],
            item.get("url") or f"{group['base_url']}/{item['name']}",
            item.get("size") if (item.get("size") or -1) >= 0 else None,
            item.get("checksum") if item.get("checksum_type") == "crc32c" else None,
        )
        for group in manifest["groups"]
        for item in group["files"]
    ]
