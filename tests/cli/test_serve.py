"""towpath serve: the server alone, with somebody's own app, and a worker elsewhere."""

import re
import socket
import subprocess
import sys

import httpx

from tests.cli.commands import Commands, started, until

LINK = re.compile(r"Towpath is at (http://127\.0\.0\.1:\d+)/(?:login\?token=(\S+))?")


def _address(process):
    until(lambda: LINK.search(process.out) or process.popen.poll() is not None, timeout=60)
    assert LINK.search(process.out), process.out + process.err
    return LINK.search(process.out).groups()


def test_the_halves_run_apart_and_the_server_makes_what_the_worker_does(database_url, tmp_path):
    (tmp_path / "shop_app.py").write_text(
        "from towpath import App, Context\n"
        "app = App()\n"
        "@app.operation('double', public=True)\n"
        "async def double(ctx: Context, number: int) -> int:\n"
        "    return number * 2\n"
    )
    settings = {"TOWPATH_BLOBS_URL": (tmp_path / "blobs").as_uri(), "TOWPATH_DRAIN_SECONDS": "0.2"}
    options = {"cwd": tmp_path, "env": settings}
    with (
        started("serve", "--app", "shop_app:app", "--database", database_url, "--port", "0", **options) as server,
        started("worker", "--app", "shop_app:app", "--database", database_url, **options) as worker,
    ):
        base, token = _address(server)
        with httpx.Client(base_url=base, headers={"Origin": base}, timeout=30) as browser:
            assert browser.post("/api/session/link", json={"token": token}).status_code == 200
            made = browser.post("/api/jobs", json={"operation": "double", "payload": 21})
            assert made.status_code == 201, made.text
            path = f"/api/jobs/{made.json()['id']}"
            until(lambda: browser.get(path).json()["state"] == "succeeded", timeout=60)
            assert browser.get(path).json()["result"] == 42
            assert {"default", "webhooks"} <= set(browser.get("/api/workers").json()[0]["queues"])
        for process in (server, worker):
            process.terminate()
            assert process.end(timeout=30) == 0, process.out + process.err


def test_a_connection_that_says_nothing_is_closed_after_the_time_that_is_set(sqlite_url, tmp_path):
    with started(
        "serve", "--database", sqlite_url, "--port", "0", cwd=tmp_path, env={"TOWPATH_HEADER_SECONDS": "0.2"}
    ) as server:  # fmt: skip
        port = int(_address(server)[0].rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as silent:
            assert silent.makefile("rb").read().startswith(b"HTTP/1.1 408 ")


def test_without_an_app_jobs_can_be_looked_at_but_not_made(sqlite_url, tmp_path):
    with started("serve", "--database", sqlite_url, "--port", "0", cwd=tmp_path) as server:
        base, token = _address(server)
        with httpx.Client(base_url=base, headers={"Origin": base}, timeout=30) as browser:
            assert browser.post("/api/session/link", json={"token": token}).status_code == 200
            assert browser.get("/api/jobs").json() == {"items": [], "next": None}
            refused = browser.post("/api/jobs", json={"operation": "double", "payload": 21})
            assert refused.status_code == 404
        server.terminate()
        assert server.end(timeout=30) == 0


def test_a_busy_port_is_an_error_that_names_it(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = Commands(f"sqlite:///{tmp_path}/x.db")("serve", "--port", port, code=2)
    assert f"port {port} on 127.0.0.1 is taken" in result.stderr


def test_an_address_that_cannot_be_bound_is_told(tmp_path):
    result = Commands(f"sqlite:///{tmp_path}/x.db")("serve", "--host", "192.0.2.1", "--port", "0", code=2)
    assert "cannot listen on 192.0.2.1" in result.stderr


def test_an_address_that_others_can_reach_needs_an_account_with_a_password(tmp_path):
    result = Commands(f"sqlite:///{tmp_path}/x.db")("serve", "--host", "0.0.0.0", "--port", "0", code=2)
    assert "towpath users create" in result.stderr
    assert not list(tmp_path.glob("x.db*"))


def test_without_the_servers_parts_it_says_what_to_install(tmp_path):
    """A worker's installation has none of them, and its other commands work."""
    hidden = "import sys; sys.modules.update(dict.fromkeys(('fastapi', 'uvicorn', 'starlette', 'httpx', 'pwdlib')))"
    for command, code in ((["serve"], 2), (["up"], 2), (["worker", "--help"], 0), (["version"], 0)):
        script = f"{hidden}; from towpath.cli.root import app; sys.argv[1:] = {command!r}; app()"
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == code, done.stderr
        assert ("pip install 'towpath[server]'" in done.stderr) == (code == 2)
