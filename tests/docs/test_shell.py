"""What the pages show for a shell does what they say, against a real server."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cli.commands import started, until
from tests.docs.pages import DOCS, blocks
from tests.services.missing import lacking

_MISSING = [program for program in ("curl", "jq") if shutil.which(program) is None]


def test_the_walk_through_the_api_ends_with_a_result(tmp_path):
    if _MISSING:
        lacking(" and ".join(_MISSING), f"apt-get install {' '.join(_MISSING)}")
    [walk] = blocks(DOCS / "how-to/run-the-server.md", "bash")
    with started("up", "--no-example", "--port", "0", cwd=tmp_path) as server:
        until(lambda: "/login?token=" in server.out or server.popen.poll() is not None, timeout=60)
        base = re.search(r"http://127\.0\.0\.1:\d+", server.out)[0]
        script = walk.text.replace("http://127.0.0.1:8642", base)
        assert script != walk.text
        bare = {name: value for name, value in os.environ.items() if not name.startswith("TOWPATH_")}
        path = f"{Path(sys.executable).parent}{os.pathsep}{bare['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path, env=bare | {"PATH": path}, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '"state": "succeeded"' in done.stdout
