"""`towpath transcribe --server` hears of its recording also from a server that has to make it first."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from towpath import Fatal
from towpath.cli.transcribing import remotely
from towpath.cli.transcribing.place import FileOptions

FINISHING: dict[str, Any] = {"state": "finishing", "result": None, "error": None}


class Server:
    """Takes files, and is asked so many times about each before there is an answer."""

    def __init__(self, *told: dict[str, Any]) -> None:
        self.told, self.asked = list(told), list[str]()

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(f"{request.method} {request.url.path}")
        if request.method == "POST":
            return httpx.Response(202, text=json.dumps({"id": None, "job_id": None, "upload_id": "7"}))
        return httpx.Response(200, text=json.dumps(self.told.pop(0)))


async def sent(server: Server, folder: Path) -> str:
    (folder / "talk.wav").write_bytes(b"RIFF")
    async with httpx.AsyncClient(transport=httpx.MockTransport(server.answer), base_url="http://server") as client:
        return await remotely.OnServer(client).send(folder / "talk.wav", FileOptions())


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remotely, "_ASK_AGAIN", 0.0)


async def test_a_recording_that_is_not_made_yet_is_asked_for_until_it_is(tmp_path: Path):
    server = Server(FINISHING, FINISHING, {"state": "done", "result": {"id": "r1", "job_id": "j1"}, "error": None})
    assert await sent(server, tmp_path) == "r1"
    assert server.asked == ["POST /upload", *["GET /api/uploads/7"] * 3]


async def test_a_file_that_is_refused_in_the_end_is_refused_with_its_reason(tmp_path: Path):
    why = {"detail": "'talk.wav' is text", "remedy": "choose the recording itself", "status": 422}
    with pytest.raises(Fatal, match="is text") as refused:
        await sent(Server(FINISHING, {"state": "failed", "result": None, "error": why}), tmp_path)
    assert refused.value.remedy == "choose the recording itself"
