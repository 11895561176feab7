"""A worker that is killed while it decodes leaves nothing but what the blob store sweeps by itself."""

import io
import os
import subprocess
import sys
import time
import wave
from pathlib import Path

from towpath.blobs.uploads import TEMPORARY, sweep

_WORKER = """
import asyncio, sys
from pathlib import Path
from towpath.assets import Decoding, Limits
from towpath.wiring import open_blobs

source, blobs = map(Path, sys.argv[1:])
asyncio.run(open_blobs(blobs.as_uri()).put("jobs/1/audio-1.pcm", Decoding(source, Limits()).pieces()))
"""


def long_wav() -> bytes:
    target = io.BytesIO()
    with wave.open(target, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(16_000)
        writer.writeframes(b"\x01\x02" * 4_000_000)
    return target.getvalue()


def test_a_killed_decoding_leaves_no_temporary_file_and_its_blob_is_swept(tmp_path: Path):
    source, blobs, scratch = tmp_path / "source", tmp_path / "blobs", tmp_path / "scratch"
    scratch.mkdir()
    os.mkfifo(source)  # it never ends: the worker is surely in the middle
    worker = subprocess.Popen(
        [sys.executable, "-c", _WORKER, str(source), str(blobs)], env=os.environ | {"TMPDIR": str(scratch)}
    )
    try:
        with source.open("wb", buffering=0) as target:
            data = memoryview(long_wav())
            while data:
                data = data[target.write(data) :]
            while not any(file.stat().st_size for file in (blobs / TEMPORARY).iterdir()):
                time.sleep(0.02)
            assert sweep(blobs, -1.0) == 0  # whoever writes it lives
            worker.kill()
            worker.wait(20)
    finally:
        worker.kill()
        worker.wait(20)
    assert list(scratch.iterdir()) == []
    assert sweep(blobs, -1.0) == 1
    assert [path for path in blobs.rglob("*") if path.is_file()] == []
