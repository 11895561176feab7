"""What is in deploy/, as tests look at it: commands, settings and containers, wherever they are written."""

from __future__ import annotations

import configparser
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.docs.pages import ROOT

DEPLOY = ROOT / "deploy"
_DEFAULT = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


@dataclass(frozen=True)
class Started:
    """A command that some file has started, with the environment that the file gives it."""

    where: str
    words: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


@cache
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8")))


@cache
def manifests() -> list[dict[str, Any]]:
    paths = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    return [one for path in paths for one in yaml.safe_load_all(path.read_text("utf-8")) if one]


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [one for one in manifests() if one["kind"] == kind]


def units() -> list[Path]:
    return sorted((DEPLOY / "systemd").glob("*.service"))


class _Repeated(dict[str, str]):
    """A key that comes again is another line of the same: systemd reads all of them."""

    def __setitem__(self, name: str, value: Any) -> None:
        before = self.get(name)
        if isinstance(before, list) and isinstance(value, list):
            value = before + value
        super().__setitem__(name, value)


def service_of(unit: Path) -> dict[str, list[str]]:
    """The [Service] section."""
    parser = configparser.RawConfigParser(strict=False, dict_type=_Repeated, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # names keep their capitals
    parser.read_string(unit.read_text("utf-8"))
    return {name: value.split("\n") for name, value in parser["Service"].items()}


def started() -> Iterator[Started]:
    """Everything that is a `towpath` command."""
    for name, service in compose()["services"].items():
        if name != "database":
            words = tuple(_filled(str(word)) for word in service["command"])
            yield Started(f"compose: {name}", words, dict(service.get("environment", {})))
    for one in of_kind("Deployment"):
        for container in one["spec"]["template"]["spec"]["containers"]:
            told = {item["name"]: str(item.get("value", "")) for item in container.get("env", ())}
            yield Started(f"kubernetes: {one['metadata']['name']}", tuple(container["args"]), told)
    for unit in units():
        service = service_of(unit)
        program, *words = shlex.split(_filled(service["ExecStart"][0].replace("%H-%i", "host-1")))
        assert program == "/opt/towpath/bin/towpath"
        told = dict(line.split("=", 1) for line in service.get("Environment", ()))
        yield Started(f"systemd: {unit.name}", tuple(words), told)
    yield Started("Dockerfile", ("serve", "--host", "0.0.0.0"), dict(docker_environment()))


def _filled(text: str) -> str:
    return _DEFAULT.sub(lambda found: found[2] or {"FLEET_SERVER": "https://x"}.get(found[1], "s3://x"), text)


def dockerfile() -> str:
    return (DEPLOY / "Dockerfile").read_text("utf-8").replace("\\\n", " ")


def docker_environment() -> Iterator[tuple[str, str]]:
    for line in dockerfile().splitlines():
        if line.startswith("ENV "):
            for word in shlex.split(line.removeprefix("ENV ")):
                name, _, value = word.partition("=")
                yield name, value
