"""The program of the page runs against a real server, with OpenAI's library and a token of the command line."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cli.commands import started, until
from tests.docs.pages import DOCS, write_files
from tests.models.wire_server import WireServer
from tests.openai_api.front import echo


def test_a_program_written_for_openai_gets_its_answers(tmp_path: Path):
    write_files(DOCS / "how-to/openai-programs.md", tmp_path)
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("TOWPATH_", "OPENAI_"))}
    with WireServer() as wire:
        wire.always = echo
        chat = {"TOWPATH_CHAT_URL": wire.url, "TOWPATH_CHAT_MODEL": "llama3.2"}
        with started("up", "--no-example", "--port", "0", cwd=tmp_path, env=chat) as server:
            until(lambda: "/login?token=" in server.out or server.popen.poll() is not None, timeout=60)
            base = re.search(r"http://127\.0\.0\.1:\d+", server.out)[0]
            towpath = str(Path(sys.executable).parent / "towpath")
            _run([towpath, "users", "create", "alice", "--data", "towpath-data"], tmp_path, bare)
            make = ["token", "create", "--user", "alice", "--scopes", "read,write", "--data", "towpath-data"]
            token = _run([towpath, *make], tmp_path, bare).split()[-1]
            program = {"OPENAI_BASE_URL": f"{base}/v1", "OPENAI_API_KEY": token}
            printed = _run([sys.executable, "ask.py"], tmp_path, bare | program)
    assert printed.startswith("completed BatchRequestCounts(completed=3, failed=0, total=3)")
    assert printed.count("WHAT IS") == 3


def _run(command: list[str], folder: Path, env: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
