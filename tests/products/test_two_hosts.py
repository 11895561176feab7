"""A server and a worker that have nothing in common but a PostgreSQL database and a bucket: each in a folder of its own, to
which the other has no way, and in which neither leaves anything of what people sent."""

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.commands import started, until
from tests.cli.test_serve import LINK
from tests.models.sounds import BUNDLED
from tests.models.wire_server import Answer, Asked, WireServer
from tests.server.api.site import ok
from towpath.blobs.buckets import PART
from towpath.models.moonshine_files import package

_TUS = {"Tus-Resumable": "1.0.0"}


@pytest.fixture
def chat() -> Iterator[WireServer]:
    def echo(asked: Asked) -> Answer:
        said = asked.json()["messages"][-1]["content"][:6]
        return Answer({"model": "m", "choices": [{"message": {"role": "assistant", "content": said}}]})

    with WireServer() as chat:
        chat.always = echo
        yield chat


@contextmanager
def two_hosts(url: str, blobs: str, chat: str, folder: Path) -> Iterator[httpx.Client]:
    """Somebody who is logged in to the one; the other only works."""
    settings = {
        "TOWPATH_DATABASE_URL": url, "TOWPATH_BLOBS_URL": blobs, "TOWPATH_CHAT_URL": chat, "TOWPATH_CHAT_MODEL": "m",
        "TOWPATH_MODELS_DIR": BUNDLED.models_dir, "TOWPATH_DRAIN_SECONDS": "0.2", "TOWPATH_POLL_SECONDS": "0.2",
    }  # fmt: skip
    homes = {name: folder / name for name in ("server", "worker")}
    for home in homes.values():
        home.mkdir()
    with (
        started("serve", "--port", "0", cwd=homes["server"], env=settings | {"HOME": str(homes["server"])}) as server,
        started("worker", cwd=homes["worker"], env=settings | {"HOME": str(homes["worker"])}) as worker,
    ):
        until(lambda: LINK.search(server.out) or server.popen.poll() is not None, timeout=90)
        found = LINK.search(server.out)
        assert found, server.out + server.err
        with httpx.Client(base_url=found[1], headers={"Origin": found[1]}, timeout=60) as browser:
            ok(browser.post("/api/session/link", json={"token": found[2]}))
            yield browser
        for process in (server, worker):
            process.terminate()
            assert process.end(timeout=60) == 0, process.err


def uploaded(browser: httpx.Client, name: str, content: bytes) -> str:
    """A file that comes in two pieces, the second of them in the middle of what a bucket takes at once."""
    said = {"filename": name, "purpose": "batch"}
    named = ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in said.items())
    made = browser.post("/api/uploads", headers=_TUS | {"Upload-Length": str(len(content)), "Upload-Metadata": named})
    place = httpx.URL(made.headers["location"]).path
    half = len(content) // 2
    for start, piece in ((0, content[:half]), (half, content[half:])):
        headers = _TUS | {"Upload-Offset": str(start), "Content-Type": "application/offset+octet-stream"}
        assert browser.patch(place, headers=headers, content=piece).status_code == 204
    until(lambda: ok(browser.get(place))["result"], timeout=60)
    return str(ok(browser.get(place))["result"]["asset_id"])


def ended(browser: httpx.Client, path: str, unfinished: tuple[str, ...]) -> dict[str, Any]:
    until(lambda: ok(browser.get(path))["status"] not in unfinished, timeout=120)
    found: dict[str, Any] = ok(browser.get(path))
    return found


def in_sight(folder: Path) -> list[str]:
    """All that a process has left where it ran."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and "cache" not in path.name.lower()]


def test_a_bucket_and_a_database_are_all_that_a_server_and_its_workers_share(
    postgres_url: str, s3_url: str, chat: WireServer, tmp_path: Path
):
    talk = package() / "assets" / "beckett.wav"
    filler = "." * (PART // 4)
    bodies = [{"messages": [{"role": "user", "content": f"line {number} {filler}"}]} for number in range(6)]
    asked = "".join(json.dumps({"custom_id": f"q{number}", "body": body}) + "\n" for number, body in enumerate(bodies))
    with two_hosts(postgres_url, s3_url, chat.url, tmp_path) as browser:
        batch_file = uploaded(browser, "questions.jsonl", asked.encode())
        batch = ok(browser.post("/api/batches/completion", json={"provider": "LOCAL", "input": batch_file}), 202)
        with talk.open("rb") as sound:
            recording = ok(browser.post("/upload", files={"file": ("talk.wav", sound, "audio/wav")}), 202)

        found = ended(browser, f"/api/recordings/{recording['id']}", ("PENDING", "PROCESSING", "SUMMARIZING"))
        assert found["status"] == "COMPLETED", found
        heard = browser.get(f"/api/recordings/{recording['id']}/export", params={"format": "txt"}).text
        assert "fail better" in heard.lower()
        part = browser.get(f"/api/recordings/{recording['id']}/audio", headers={"Range": "bytes=100-199"})
        assert (part.status_code, part.content) == (206, talk.read_bytes()[100:200])

        found = ended(browser, f"/api/batches/{batch['id']}", ("PENDING", "IN_PROGRESS"))
        assert (found["status"], found["ok"]) == ("COMPLETED", 6), found
        lines = [json.loads(line) for line in browser.get(f"/api/batches/{batch['id']}/results").text.splitlines()]
        assert [(line["custom_id"], line["text"]) for line in lines] == [
            (f"q{number}", f"line {number}") for number in range(6)
        ]
        sound_file = uploaded(browser, "talk.wav", talk.read_bytes())
        batch = ok(browser.post("/api/batches/transcription", json={"provider": "LOCAL", "inputs": [sound_file]}), 202)
        assert ended(browser, f"/api/batches/{batch['id']}", ("PENDING", "IN_PROGRESS"))["status"] == "COMPLETED"
        [told] = ok(browser.get(f"/api/batches/{batch['id']}/results"))["transcriptions"]
        assert "fail better" in told["text"].lower()
        ok(browser.delete(f"/api/recordings/{recording['id']}"))
    assert in_sight(tmp_path) == []
