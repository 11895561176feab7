"""A process that a document has taken over can do nothing but answer, and of its answer only the shape is believed."""

import json
import os
import socket
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.assets import hijacked as decoder_hijacked
from tests.extraction import hijacked, papers
from towpath.extraction import DocumentUnreadable, Extractors, Limits, child
from towpath.walls import lock

LINUX = sys.platform == "linux"
_PROGRAM = child._PROGRAM
_ATTACKS = tuple(decoder_hijacked.TRIES)


@dataclass
class Prey:
    """What a hijacked process would go for."""

    secret: Path
    port: int
    folder: Path

    async def attacked(self, tries: Sequence[str], walls: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
        attacks, program = self.folder / "attacks.py", self.folder / "program.py"
        attacks.write_text(_filled(decoder_hijacked.__file__, SECRET=self.secret, PORT=self.port, PARENT=os.getpid()))
        program.write_text(_filled(hijacked.__file__, PROGRAM=_PROGRAM, ATTACKS=attacks, WANTED=",".join(tries)))
        monkeypatch.setattr(child, "_PROGRAM", program)
        async with Extractors(spare=False, walls=walls) as extractors:
            with pytest.raises(DocumentUnreadable) as caught:
                await extractors.extract(b"any document")
        assert caught.value.remedy == "hijacked", caught.value
        return json.loads(str(caught.value))


def _filled(path: str, **values: object) -> str:
    text = Path(path).read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    return text


@pytest.fixture
def prey(tmp_path: Path) -> Iterator[Prey]:
    secret = tmp_path / "towpath.db"
    secret.write_bytes(b"hush")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"{secret}.socket")
        local.listen()
        yield Prey(secret, server.getsockname()[1], tmp_path)


async def test_without_walls_every_way_out_is_open(prey: Prey, monkeypatch: pytest.MonkeyPatch):
    """So that the other tests can fail."""
    tries = [name for name in _ATTACKS if name not in ("shell", "rename", "delete", "debug")]
    found = await prey.attacked(tries, (), monkeypatch)
    assert set(found["tries"].values()) == {"done"}


@pytest.mark.skipif(not LINUX, reason="the walls are the kernel's of Linux")
async def test_a_hijacked_process_reaches_no_file_no_address_and_no_process(prey: Prey, monkeypatch: pytest.MonkeyPatch):
    before = sorted(prey.folder.iterdir())
    found = await prey.attacked([*_ATTACKS, "thread"], lock.WALLS, monkeypatch)
    assert found["tries"].pop("thread") == "done"  # the library needs threads, and nothing else that makes something run
    assert "done" not in found["tries"].values(), found
    assert sorted(prey.folder.iterdir()) == sorted([*before, prey.folder / "program.py", prey.folder / "attacks.py"])


async def test_it_is_given_neither_descriptors_nor_variables_of_the_worker(prey: Prey, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOWPATH_OIDC_CLIENT_SECRET", "hush")
    with prey.secret.open() as held:
        os.set_inheritable(held.fileno(), True)
        found = await prey.attacked(["read"], lock.WALLS, monkeypatch)
    assert not [name for name in found["knows"] if "TOWPATH" in name or "SECRET" in name]
    assert set(found["knows"]) <= {"PYTHONPATH", "LC_CTYPE", *child._QUIET}


@pytest.mark.skipif(not LINUX, reason="the walls are the kernel's of Linux")
async def test_documents_and_pictures_are_read_behind_all_walls_there_are(extractors: Extractors):
    for document in (papers.pdf(papers.ENGLISH), papers.picture("The keeper")):
        assert "limits" in (await extractors.extract(document)).walls


async def test_without_any_wall_documents_are_still_read():
    async with Extractors(spare=False, walls=()) as extractors:
        found = await extractors.extract(papers.pdf(papers.ENGLISH))
    assert found.walls == ()
    assert "barges" in found.text


def _answer(head: bytes, body: bytes = b"") -> bytes:
    return struct.pack(">I", len(head)) + head + body


_LIES = {
    "no length": b"x",
    "a head of 4 GB": b"\xff\xff\xff\xff",
    "no JSON": _answer(b"nope"),
    "JSON too deep": _answer(b"[" * 50_000),
    "no size": _answer(b"{}"),
    "a size below zero": _answer(b'{"size":-1}'),
    "more text than is taken": _answer(b'{"size":99999999999}'),
    "a page longer than all pages": _answer(b'{"size":9}', struct.pack(">II", 1, 2) + b"x"),
    "half a page": _answer(b'{"size":5}', b"12345"),
    "another shape": _answer(b'{"size":0,"kind":[{}]}'),
}


@pytest.mark.parametrize("lie", _LIES)
async def test_an_answer_without_sense_is_the_documents_fault_and_costs_nothing(
    lie: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program = tmp_path / "lying.py"
    ready = _answer(b'{"ready":true,"size":0}')
    program.write_text(f"import os, sys\nos.write(1, {ready!r})\nsys.stdin.buffer.read(4)\nos.write(1, {_LIES[lie]!r})\n")
    monkeypatch.setattr(child, "_PROGRAM", program)
    async with Extractors(Limits(seconds=30), spare=False) as extractors:
        with pytest.raises(DocumentUnreadable) as caught:
            await extractors.extract(b"any document")
    assert caught.value.why in ("crashed", "too_large")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_library_with_threads_may_start_threads_and_never_a_process(machine: str):
    """Interprets the program as the kernel would: no machine of the other kind is at hand."""
    architecture, _, allowed = lock._MACHINES[machine]
    clone, clone3 = lock._CLONES[machine]
    program = lock._filter(architecture, sorted((allowed | lock._LOOPS[machine]).values()), (clone, clone3))
    threads = 0x003D0F00  # as the C library starts one
    assert _ran(program, architecture, clone, threads) == lock._ALLOW
    assert _ran(program, architecture, clone, threads & ~lock._CLONE_THREAD) == lock._REFUSE
    assert _ran(program, architecture, clone, 17) == lock._REFUSE
    assert _ran(program, architecture, clone3, threads) == lock._NOT_THERE
    for number in set(range(600)) - {clone, clone3}:
        known = number in allowed.values() or number in lock._LOOPS[machine].values()
        assert _ran(program, architecture, number, 0) == (lock._ALLOW if known else lock._REFUSE)


def _ran(program: Sequence[Any], architecture: int, number: int, argument: int) -> int:
    at, word = 0, 0
    while True:
        step = program[at]
        at += 1
        if step.code == lock._LOAD:
            word = {0: number, 4: architecture, 16: argument}[step.value]
        elif step.code == lock._JUMP_IF_EQUAL:
            at += step.yes if word == step.value else step.no
        elif step.code == lock._JUMP_IF_SET:
            at += step.yes if word & step.value else step.no
        else:
            return int(step.value)


@pytest.mark.parametrize(
    ("machine", "header"), [("x86_64", "x86_64-linux-gnu/asm/unistd_64.h"), ("aarch64", "asm-generic/unistd.h")]
)
def test_the_numbers_of_these_calls_are_those_of_the_kernel(machine: str, header: str):
    path = Path("/usr/include") / header
    if not path.exists():
        pytest.skip("the kernel's headers are not here")
    text = path.read_text()
    for name, number in (lock._LOOPS[machine] | dict(zip(("clone", "clone3"), lock._CLONES[machine], strict=True))).items():
        assert f"__NR_{name} {number}\n" in text or f"__NR3264_{name} {number}\n" in text, name
