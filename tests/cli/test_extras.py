"""What is installed with an extra is asked for in one message, and nothing is asked for that a command does not need."""

import subprocess
import tomllib

import pytest
from packaging.requirements import Requirement

from tests.cli.bare import Bare
from tests.docs.pages import ROOT
from tests.models.sounds import BECKETT, speak
from towpath.cli.extras import EXTRAS

SERVER = "authlib", "fastapi", "httpx", "prometheus-client", "python-multipart", "uvicorn"


def run(bare, folder, *args):
    return subprocess.run(bare.command(*args), cwd=folder, capture_output=True, text=True, timeout=150, check=False)


def test_the_extras_are_those_of_the_project():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]

    def packages_of(extra):
        for wanted in map(Requirement, declared[extra]):
            others = sorted(wanted.extras) if wanted.name == "towpath" else ()
            yield from (name for other in others for name in packages_of(other)) if others else (wanted.name,)

    for extra, packages in EXTRAS.items():
        assert list(packages) == list(packages_of(extra))


@pytest.mark.parametrize("command", [("up",), ("serve",)])
def test_a_server_without_its_extra_names_all_that_is_missing_at_once(tmp_path, command):
    done = run(Bare(tmp_path / "env"), tmp_path, *command)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert [name for name in SERVER if name not in done.stderr] == []
    assert "pip install 'towpath[server]'" in done.stderr
    assert ("pip install 'towpath[server,local]'" in done.stderr) == (command == ("up",))
    assert not list(tmp_path.glob("towpath*"))


def test_transcribing_without_its_extra_names_what_hears_and_no_server(tmp_path):
    (tmp_path / "talk.wav").touch()
    done = run(Bare(tmp_path / "env", "server"), tmp_path, "transcribe", "talk.wav")
    assert done.returncode == 2
    assert "av, moonshine-voice, py3langid, snowballstemmer, webrtcvad-wheels, wordllama are not installed" in done.stderr
    assert "pip install 'towpath[local]'" in done.stderr
    assert not (tmp_path / "towpath-data").exists()


def test_a_file_is_transcribed_with_the_extra_local_alone(tmp_path):
    bare = Bare(tmp_path / "env", "local")
    assert not bare.packages & {"fastapi", "starlette", "uvicorn", "opentelemetry-api", "prometheus-client"}
    speak(BECKETT, tmp_path / "talk.wav")
    done = run(bare, tmp_path, "transcribe", "talk.wav", "--summary", "--out", "txt,md")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fail again" in (tmp_path / "talk.txt").read_text("utf-8").lower()
