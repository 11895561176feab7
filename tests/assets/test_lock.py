"""A decoder that a file has taken over can do nothing but answer."""

import json
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.assets import hijacked, media
from towpath.assets import Decoding, Limits, MediaUnreadable, decoding
from towpath.cli.decoder_checkup import checkup
from towpath.engine.asking.findings import Level
from towpath.walls import lock

LINUX = sys.platform == "linux"
_PROGRAM = decoding._PROGRAM
_HIJACKED = Path(hijacked.__file__).read_text()
_LEVEL = lock._landlock_level() if LINUX else 0
_HELD_BY = {
    "namespaces": ("connect", "send"),
    "landlock": (
        "read", "list", "write", "rename", "delete", "shell", "debug",
        *(["connect"] if _LEVEL >= 4 else []), *(["kill"] if _LEVEL >= 6 else []),
    ),
    "limits": ("read", "reopen", "list", "write", "connect", "send", "local socket"),
    "seccomp": tuple(hijacked.TRIES),
}  # fmt: skip


@dataclass
class Prey:
    """What a hijacked decoder would go for, and the decoder itself."""

    secret: Path
    port: int
    folder: Path

    async def attacked(self, tries: Sequence[str], walls: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
        text = _HIJACKED
        values = {
            "SECRET": self.secret, "PORT": self.port, "PARENT": os.getpid(), "DECODER": _PROGRAM, "WANTED": ",".join(tries),
        }  # fmt: skip
        for name, value in values.items():
            text = text.replace(f"@{name}@", str(value))
        program = self.folder / "program.py"
        program.write_text(text)
        monkeypatch.setattr(decoding, "_PROGRAM", program)
        with pytest.raises(MediaUnreadable) as caught:
            await finished(Decoding(self.secret, Limits(wall_seconds=60), walls=walls))
        assert caught.value.remedy == "hijacked", caught.value
        return json.loads(str(caught.value))


async def finished(running: Decoding) -> Decoding:
    async with aclosing(running.pieces()) as pieces:
        async for _ in pieces:
            pass
    return running


@pytest.fixture
def prey(tmp_path: Path) -> Iterator[Prey]:
    secret = tmp_path / "towpath.db"
    secret.write_bytes(media.sound("wav"))
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"{secret}.socket")
        local.listen()
        yield Prey(secret, server.getsockname()[1], tmp_path)


async def standing(path: Path, walls: Sequence[str] = lock.WALLS) -> tuple[str, ...]:
    return (await finished(Decoding(path, Limits(), walls=walls))).walls


async def test_without_a_lock_every_way_out_is_open(prey: Prey, monkeypatch: pytest.MonkeyPatch):
    """So that the other tests can fail."""
    tries = [name for name in hijacked.TRIES if name not in ("shell", "rename", "delete", "debug")]
    found = await prey.attacked(tries, (), monkeypatch)
    assert set(found["tries"].values()) == {"done"}


async def test_a_hijacked_decoder_reaches_no_file_no_address_and_no_process(prey: Prey, monkeypatch: pytest.MonkeyPatch):
    if "seccomp" not in await standing(prey.secret):
        pytest.skip("this kernel has no seccomp, or it is not known for this machine")
    before = sorted(prey.folder.iterdir())
    found = await prey.attacked(list(hijacked.TRIES), lock.WALLS, monkeypatch)
    assert "done" not in found["tries"].values(), found
    assert sorted(prey.folder.iterdir()) == sorted([*before, prey.folder / "program.py"])


@pytest.mark.parametrize("wall", lock.WALLS)
async def test_each_wall_holds_by_itself(wall: str, prey: Prey, monkeypatch: pytest.MonkeyPatch):
    if wall not in await standing(prey.secret, (wall,)):
        pytest.skip(f"this kernel has no {wall}")
    found = await prey.attacked(_HELD_BY[wall], (wall,), monkeypatch)
    assert "done" not in found["tries"].values(), found


async def test_a_decoder_is_given_neither_descriptors_nor_variables_of_the_worker(
    prey: Prey, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOWPATH_OIDC_CLIENT_SECRET", "hush")
    with prey.secret.open() as held:
        os.set_inheritable(held.fileno(), True)
        found = await prey.attacked(["read"], lock.WALLS, monkeypatch)
    assert len(found["open"]) == 5, found  # the three everybody has, the file, and the pipe for the answer
    assert set(found["knows"]) <= {"PYTHONPATH", "LC_CTYPE"}


@pytest.mark.parametrize("kind", media.KINDS)
@pytest.mark.skipif(not LINUX, reason="the walls are the kernel's of Linux")
async def test_every_format_is_decoded_behind_all_walls_there_are(kind: str, tmp_path: Path):
    path = tmp_path / "input"
    path.write_bytes(media.sound(kind))
    assert "limits" in await standing(path)


async def test_without_any_wall_audio_is_still_decoded(tmp_path: Path):
    path = tmp_path / "input"
    path.write_bytes(media.sound("mp3"))
    running = await finished(Decoding(path, Limits(), walls=()))
    assert running.walls == ()
    assert running.info is not None


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_lets_through_what_is_listed_and_nothing_else(machine: str):
    """Interprets the program as the kernel would: no machine of the other kind is at hand."""
    architecture, _, allowed = lock._MACHINES[machine]
    program = lock._filter(architecture, sorted(allowed.values()))
    for number in range(600):
        assert _ran(program, architecture, number) == (number in allowed.values())
        assert not _ran(program, architecture ^ 1, number)
    assert not _ran(program, architecture, 0x40000000)  # the other numbers of x86-64


def _ran(program: Sequence[Any], architecture: int, number: int) -> bool:
    at, word = 0, 0
    while True:
        step = program[at]
        at += 1
        if step.code == lock._LOAD:
            word = architecture if step.value == 4 else number
        elif step.code == lock._JUMP_IF_EQUAL:
            at += step.yes if word == step.value else step.no
        else:
            return step.value == lock._ALLOW


@pytest.mark.parametrize(
    ("machine", "header"), [("x86_64", "x86_64-linux-gnu/asm/unistd_64.h"), ("aarch64", "asm-generic/unistd.h")]
)
def test_the_numbers_of_calls_are_those_of_the_kernel(machine: str, header: str):
    path = Path("/usr/include") / header
    if not path.exists():
        pytest.skip("the kernel's headers are not here")
    text = path.read_text()
    _, seccomp, allowed = lock._MACHINES[machine]
    for name, number in (allowed | {"seccomp": seccomp}).items():
        assert f"__NR_{name} {number}\n" in text or f"__NR3264_{name} {number}\n" in text, name


@pytest.mark.skipif(not LINUX, reason="the walls are the kernel's of Linux")
async def test_doctor_is_content_with_a_decoder_that_only_computes():
    [found] = await checkup()
    assert (found.topic, found.level) == ("decoder", Level.OK)
    assert "seccomp" in found.message


@pytest.mark.parametrize(
    ("walls", "why"),
    [
        (("limits",), "could still read files, reach the network and start programs"),
        (("limits", "namespaces"), "could still read files and start programs"),
        (("limits", "landlock", "namespaces"), "could still start processes of its own"),
    ],
)
async def test_doctor_says_what_a_hijacked_decoder_could_still_do(walls: Sequence[str], why: str, tmp_path: Path):
    path = tmp_path / "input"
    path.write_bytes(media.sound("wav"))
    if set(walls) - set(await standing(path, walls)):
        pytest.skip("this kernel has less")
    [found] = await checkup(walls)
    assert found.level == Level.NOTE
    assert why in found.message
    assert found.remedy


async def test_doctor_finds_a_decoder_that_does_not_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "broken.py"
    program.write_text("raise SystemExit(3)")
    monkeypatch.setattr(decoding, "_PROGRAM", program)
    [found] = await checkup()
    assert found.level == Level.PROBLEM
    assert "exit code 3" in found.message
