"""towpath demo batches: every status within seconds, at stand-ins for all providers, and not a word to anybody else."""

import os
import re
import signal
import socket
import subprocess
import threading
from contextlib import contextmanager

import httpx
import psutil
import pytest

from tests.cli.bare import Bare
from tests.cli.commands import Commands, started, until
from towpath import App, Settings
from towpath.batches import intake, moving, stored
from towpath.cli.data import database_in
from towpath.cli.demo.place import make_place
from towpath.cli.demo.scenes import POOR, SCENES
from towpath.cli.demo.stand_ins import STAND_INS
from towpath.providers.catalog import PROVIDERS
from towpath.server import attach

LINK = re.compile(r"(http://127\.0\.0\.1:\d+)/login\?token=([^&\s]+)&next=/batches")
ENDS = {
    "Names for forty barges": "COMPLETED",
    "Letters to the lock keepers": "PARTIAL_COMPLETE",
    "The flooded archive": "FAILED",
    "A reply that went overboard": "submit_unknown",
    "A survey beyond its means": "budget",
    "Voices of the lock keepers": "PARTIAL_COMPLETE",
    "Tapes that got wet": "FAILED",
    "Horns along the towpath": "PARTIAL_COMPLETE",
    "Stories told at the tiller": "COMPLETED",
    "The sounds of the boatyard": "COMPLETED",
    "Read aloud, and heard by this machine": "COMPLETED",
}

# Whatever is asked for outside of this machine is refused, and written down: by name or by address, in any thread.
GUARD = """
import os, sys

def _is_here(address):
    return not isinstance(address, tuple) or str(address[0]) in ("127.0.0.1", "::1", "localhost")

def guard(event, args):
    asked = args[1] if event == "socket.connect" else args if event == "socket.getaddrinfo" else ()
    if event in ("socket.connect", "socket.getaddrinfo") and asked[0] is not None and not _is_here(asked):
        with open(ASKED, "a") as file:
            file.write(f"{event} {asked[0]}\\n")
        raise PermissionError(f"{asked[0]} is not here")

sys.addaudithook(guard)
open(f"{ASKED}-by-nobody-yet", "w").close()
"""


class Trap:
    """Stands at every address that the environment names, and takes down who comes."""

    def __init__(self, listening):
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        self.visits = []
        self._listening = listening

    def watch(self):
        while True:
            try:
                visitor, _ = self._listening.accept()
            except OSError:
                return
            self.visits.append(visitor.recv(200))
            visitor.close()

    @property
    def environment(self):
        """What somebody may have set who works with the real providers."""
        keys = (
            "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY",
            "SARVAM_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID",
            "TOWPATH_CHAT_KEY",
        )  # fmt: skip
        urls = (
            "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "AWS_ENDPOINT_URL",
            "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "TOWPATH_CHAT_URL",
            "TOWPATH_SPEECH_URL", "TOWPATH_OTEL_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT", "GOOGLE_BASE_URL",
        )  # fmt: skip
        other = {
            "TOWPATH_DATABASE_URL": "sqlite:///real.db", "TOWPATH_BLOBS_URL": "s3://real", "AWS_PROFILE": "real",
            "TOWPATH_STAGING_URL": "gs://real/staged",
        }  # fmt: skip
        return dict.fromkeys(keys, "a-real-credential") | dict.fromkeys(urls, self.url) | other


@contextmanager
def trapped():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        trap = Trap(listening)
        thread = threading.Thread(target=trap.watch, daemon=True)
        thread.start()
        yield trap
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(10)


class Demo:
    """A demonstration that is running, and a browser that came by its link."""

    def __init__(self, process):
        until(lambda: LINK.search(process.out) or process.popen.poll() is not None)
        assert LINK.search(process.out), process.out + process.err
        base, token = LINK.search(process.out).groups()
        self.process = process
        self.browser = httpx.Client(base_url=base, headers={"Origin": base}, timeout=30)
        assert self.browser.post("/api/session/link", json={"token": token}).status_code == 200

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.close()

    def get(self, path, **query):
        answer = self.browser.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def batches(self):
        return {one["title"]: one for one in self.get("/api/batches", limit=200)["items"]}

    def heard(self, title):
        """What was said in its first input."""
        return self.get(f"/api/batches/{self.batches()[title]['id']}/results")["transcriptions"][0]["text"]

    def shown(self, title):
        """Its status, or what it waits for if that is somebody's word."""
        found = self.batches().get(title, {})
        waiting = found.get("waiting_for")
        return waiting if waiting in ("budget", "submit_unknown") else found.get("status")

    def stop(self):
        self.process.popen.send_signal(signal.SIGINT)
        assert self.process.end() == 0, self.process.out + self.process.err


@pytest.fixture
def guarded(tmp_path):
    """A folder whose `sitecustomize` keeps processes on this machine, and the file in which it says what was asked for."""
    asked = tmp_path / "asked"
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard/sitecustomize.py").write_text(f"ASKED = {str(asked)!r}\n{GUARD}")
    return {"PYTHONPATH": str(tmp_path / "guard")}, asked


def test_every_status_is_there_soon_and_nobody_else_is_asked(tmp_path, guarded):
    environment, asked = guarded
    command = ("demo", "batches", "--port", "0", "--speed", "25")
    with (
        trapped() as trap,
        started(*command, cwd=tmp_path, env=trap.environment | environment) as process,
        Demo(process) as demo,
    ):
        assert demo.get("/api/example")["demonstration"] is True
        for title, wanted in ENDS.items():
            until(lambda title=title, wanted=wanted: demo.shown(title) == wanted)
        until(lambda: "batch adopt" in process.out and "limits set" in process.out)
        _adopt_and_pay(process, tmp_path)
        for title in ("A reply that went overboard", "A survey beyond its means"):
            until(lambda title=title: demo.shown(title) in ("IN_PROGRESS", "COMPLETED"))
        found = demo.batches()
        assert {one["provider"] for one in found.values()} == {scene.provider for scene in SCENES}
        assert found["A survey beyond its means"]["tenant"] == POOR
        assert found["Letters to the lock keepers"]["cost_cents"] > 0
        boatyard = found["The sounds of the boatyard"]
        assert (boatyard["task_type"], boatyard["ok"], boatyard["invalid"]) == ("transcription", 2, 3)
        assert "fail better" in demo.heard("Read aloud, and heard by this machine").lower()
        assert "429" in process.out or "rate limited" in process.out
        ports = [one.laddr.port for one in psutil.Process(process.popen.pid).net_connections() if one.status == "LISTEN"]
        assert len(ports) > 1
        demo.stop()
    assert trap.visits == []
    assert os.path.exists(f"{asked}-by-nobody-yet"), "nobody stood guard"
    assert not asked.exists(), asked.read_text()
    assert process.out.rstrip().endswith("stopped")
    assert process.err == ""
    assert [port for port in ports if _listens(port)] == []
    assert not (tmp_path / "real.db").exists()


def _adopt_and_pay(process, folder):
    """The commands that it prints are those that help."""
    for told in re.findall(r"towpath ((?:batch adopt|limits set) .*)", process.out):
        with started(*told.split(), cwd=folder) as command:
            assert command.end() == 0, command.err


def _listens(port):
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


async def test_a_second_start_keeps_what_has_ended_and_removes_what_its_providers_have_forgotten(tmp_path):
    make_place(tmp_path / "again")
    async with attach(App(database_in(tmp_path / "again"), settings=Settings())) as app:
        kept, forgotten = [await _sent(app, title) for title in ("Kept", "Forgotten")]
        await moving.cancel(app, await stored.find(app, kept), "a test")
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['anthropic'] = None")  # as if it were not installed
    command, bare = ("demo", "batches", "--data", "again", "--port", "0"), {"PYTHONPATH": str(tmp_path)}
    with started(*command, cwd=tmp_path, env=bare) as process, Demo(process) as demo:
        assert "removed 1 batch of the last demonstration" in process.out
        until(lambda: demo.shown("Names for forty barges"))
        assert "ANTHROPIC is left out, because its library is not installed: pip install 'towpath[anthropic]'" in process.out
        assert demo.shown("Kept") == "CANCELLED"
        assert demo.browser.get(f"/api/batches/{forgotten}").status_code == 404
        refused = Commands("sqlite:///unused.db")("demo", "batches", "--data", tmp_path / "again", code=2).stderr
        assert "runs in" in refused
        demo.stop()


async def _sent(app, title):
    wanted = intake.Wanted("OPENAI", ["gpt-5"], title, lines=intake.as_lines([{"custom_id": "1", "body": {"messages": []}}]))
    return (await intake.create(app, wanted, intake.Owner("default")))[0]


def test_somebody_elses_folder_is_refused_and_left_as_it_is(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real/towpath.db").write_text("precious")
    refused = Commands("sqlite:///unused.db")("demo", "batches", "--data", tmp_path / "real", code=2).stderr
    assert "no demonstration has put it there" in refused
    assert os.listdir(tmp_path / "real") == ["towpath.db"]


def test_without_any_providers_library_it_says_what_to_install_and_leaves_nothing(tmp_path):
    bare = Bare(tmp_path / "env", "server")
    asked = bare.command("demo", "batches", "--data", tmp_path / "d")
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 2, done.stdout
    assert "pip install 'towpath[providers]'" in done.stderr
    assert not (tmp_path / "d").exists()


def test_every_provider_has_a_stand_in():
    assert set(STAND_INS) == set(PROVIDERS)
    assert {scene.provider for scene in SCENES} == {*PROVIDERS, "LOCAL"}
