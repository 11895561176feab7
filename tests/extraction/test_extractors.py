"""Processes: whose documents they read, how they end, and that nothing is left of them."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extraction import papers, traps
from towpath import ConfigurationError, Transient
from towpath.extraction import DocumentUnreadable, Extractors, Limits, child, extract

TEXT = papers.ENGLISH.encode()


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[child.Child]:
    """Every process that is started, in order."""
    made: list[child.Child] = []
    start = child.Child.started

    async def noted(*given, **named):
        made.append(await start(*given, **named))
        return made[-1]

    monkeypatch.setattr(child.Child, "started", noted)
    return made


async def test_a_process_reads_the_next_document_of_its_owner_and_of_nobody_else(started: list[child.Child]):
    async with Extractors(spare=False) as extractors:
        for owner in ("one", "one", "two", None, None, "one"):
            assert (await extractors.extract(TEXT, owner=owner)).text == papers.ENGLISH
    assert [process.owner for process in started] == ["one", "two", None, None]
    assert not any(process.alive for process in started)


async def test_one_is_ready_for_whoever_comes_next(started: list[child.Child]):
    async with Extractors() as extractors:
        await extractors.extract(TEXT)
        async with asyncio.timeout(60):
            while len(started) < 2:  # noqa: ASYNC110  (another process starts)
                await asyncio.sleep(0.02)
            await extractors.extract(TEXT)
            while any(process.alive for process in started[:2]):  # noqa: ASYNC110  (each has read its one document)
                await asyncio.sleep(0.02)
    assert not any(process.alive for process in started)


async def test_as_many_work_at_a_time_as_were_said(started: list[child.Child]):
    async with Extractors(at_once=2, spare=False) as extractors:
        await asyncio.gather(*(extractors.extract(TEXT, owner=f"owner {number % 3}") for number in range(9)))
        assert sum(process.alive for process in started) <= 4  # two that work, two that wait for more
    assert not any(process.alive for process in started)


async def test_a_process_that_waits_too_long_is_ended(started: list[child.Child]):
    async with Extractors(spare=False, idle_seconds=0.05) as extractors:
        await extractors.extract(TEXT, owner="one")
        async with asyncio.timeout(20):
            while started[0].alive:  # noqa: ASYNC110  (another process ends)
                await asyncio.sleep(0.02)
        assert (await extractors.extract(TEXT, owner="one")).text == papers.ENGLISH


async def test_a_process_that_died_while_it_waited_is_not_asked(started: list[child.Child]):
    async with Extractors(spare=False) as extractors:
        await extractors.extract(TEXT, owner="one")
        os.kill(started[0].pid, signal.SIGKILL)
        async with asyncio.timeout(20):
            while started[0].alive:  # noqa: ASYNC110  (another process ends)
                await asyncio.sleep(0.02)
        assert (await extractors.extract(TEXT, owner="one")).text == papers.ENGLISH


async def test_too_little_memory_is_told_as_such():
    with pytest.raises(DocumentUnreadable, match="more than 700 MB of memory") as caught:
        await extract(b"word " * 60_000_000, limits=Limits(memory_mb=700, characters=10**9))
    assert caught.value.why == "memory"
    assert "TOWPATH_EXTRACT_MEMORY_MB" in (caught.value.remedy or "")


async def test_a_document_that_takes_too_long_is_stopped_and_its_process_is_gone(started: list[child.Child]):
    async with Extractors(Limits(seconds=0.05), spare=False) as extractors:
        with pytest.raises(DocumentUnreadable, match=r"longer than 0[.]05 s") as caught:
            await extractors.extract(traps.many_pages(4000), owner="one")
    assert caught.value.why == "time"
    assert not started[0].alive


async def test_a_process_that_computes_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "endless.py"
    program.write_text(
        "import os, resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 2))\n"
        "os.write(1, b'\\x00\\x00\\x00\\x0a{\"size\":0}')\nwhile True:\n    pass\n"
    )
    monkeypatch.setattr(child, "_PROGRAM", program)
    with pytest.raises(DocumentUnreadable, match="longer than 60 s"):
        await extract(TEXT, limits=Limits(seconds=60))


async def test_a_library_that_breaks_down_is_told_as_such_and_a_kill_from_outside_is_not_the_documents_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program = tmp_path / "breaking.py"
    monkeypatch.setattr(child, "_PROGRAM", program)
    text = (
        "import os, sys\nos.write(1, b'\\x00\\x00\\x00\\x0a{\"size\":0}')\n"
        "sys.stdin.buffer.read(4)\nos.kill(os.getpid(), %d)\n"
    )
    program.write_text(text % signal.SIGSEGV)
    with pytest.raises(DocumentUnreadable, match="broke down over this document") as caught:
        await extract(TEXT)
    assert caught.value.why == "crashed"
    program.write_text(text % signal.SIGKILL)
    with pytest.raises(Transient, match="killed from outside"):
        await extract(TEXT)


async def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    hidden = tmp_path / "xberg"
    hidden.mkdir()
    (hidden / "__init__.py").write_text("raise ImportError('xberg is not here')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigurationError, match=r"xberg is not here.*towpath\[documents\]"):
        await extract(TEXT)


async def test_a_cancelled_reading_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pids, program = tmp_path / "pids", tmp_path / "stuck.py"
    program.write_text(
        "import os, pathlib, subprocess, time\n"
        "os.write(1, b'\\x00\\x00\\x00\\x0a{\"size\":0}')\n"
        "nowhere = subprocess.DEVNULL\n"
        "child = subprocess.Popen(['sleep', '600'], stdin=nowhere, stdout=nowhere, stderr=nowhere)\n"
        f"pathlib.Path({str(pids)!r} + '.new').write_text(f'{{os.getpid()}} {{child.pid}}')\n"
        f"os.rename({str(pids)!r} + '.new', {str(pids)!r})\n"
        "time.sleep(600)\n"
    )
    monkeypatch.setattr(child, "_PROGRAM", program)
    async with asyncio.timeout(60):
        task = asyncio.create_task(extract(TEXT))
        while not pids.exists():  # noqa: ASYNC110  (another process makes it)
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for pid in map(int, pids.read_text().split()):
            while runs(pid):  # noqa: ASYNC110  (another process ends)
                await asyncio.sleep(0.02)


def test_a_killed_worker_leaves_no_process_and_no_file(tmp_path: Path):
    code = (
        "import asyncio, sys\nfrom towpath.extraction import Extractors\n"
        "async def main():\n"
        "    async with Extractors(spare=False) as extractors:\n"
        "        await extractors.extract(b'text', owner='one')\n"
        "        print(next(iter(extractors._idle)).pid, flush=True)\n"
        "        await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env=os.environ | {"TMPDIR": str(tmp_path)}, text=True
    )
    try:
        assert worker.stdout is not None
        reader = int(worker.stdout.readline())
        assert runs(reader)
        worker.kill()
        worker.wait(20)
        for _ in range(500):
            if not runs(reader):
                break
            signal.sigtimedwait([], 0.02)
        assert not runs(reader)
    finally:
        worker.kill()
        worker.wait(20)
        if worker.stdout is not None:
            worker.stdout.close()
    assert list(tmp_path.iterdir()) == []


def test_to_import_the_room_loads_no_library():
    heavy = "xberg", "rapidocr", "onnxruntime", "cv2", "pypdfium2"
    code = f"import sys, towpath.extraction; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_what_reads_pictures_tells_nobody_that_it_does():
    """Versions of onnxruntime from 1.29 on carry the address of their maker."""
    import onnxruntime

    folder = Path(onnxruntime.__file__).parent / "capi"
    assert not [path.name for path in folder.glob("*.so*") if b"events.data.microsoft.com" in path.read_bytes()]
    assert child._QUIET["ORT_DISABLE_TELEMETRY"] == "1"
