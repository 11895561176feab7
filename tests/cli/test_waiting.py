"""Processes that stay wait for PostgreSQL and say so; short commands, and what waiting cannot mend, fail at once."""

import asyncio
import signal

import pytest

from tests.cli.commands import Commands, started, until, words
from towpath import App
from towpath.cli import patience
from towpath.core.errors import StoreUnavailable

SHOP = """
from towpath import App

app = App()

@app.operation("greet")
async def greet(ctx, name: str = "you"):
    return f"hello {name}"
"""
STAYING = {
    "worker": (("worker", "--app", "corner_shop:app"), "started: queues"),
    "serve": (("serve", "--app", "corner_shop:app", "--port", "0"), "Towpath is at"),
    "up": (("up", "--app", "corner_shop:app", "--port", "0"), "Towpath is running"),
}


@pytest.fixture(autouse=True)
def shop(tmp_path, monkeypatch):
    (tmp_path / "corner_shop.py").write_text(SHOP)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=STAYING)
def staying(request):
    return STAYING[request.param]


def said_by(process):
    """`up` tells people on standard output, the others a log on standard error."""
    return process.out + process.err


def test_a_process_that_begins_while_postgresql_is_away_waits_for_it(staying, postgres_server, postgres_url, tmp_path):
    command, up = staying
    postgres_server.stop()
    with started(*command, cwd=tmp_path, env={"TOWPATH_DATABASE_URL": postgres_url}) as process:
        until(lambda: "waiting for it" in said_by(process))
        postgres_server.start()
        until(lambda: up in said_by(process))
        process.terminate()
        assert process.end() == 0
    assert said_by(process).count("waiting for it") == 1
    assert "PostgreSQL is there" in said_by(process)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_the_waiting(staying, sent, code, postgres_server, postgres_url, tmp_path):
    command, _ = staying
    postgres_server.stop()
    with started(*command, cwd=tmp_path, env={"TOWPATH_DATABASE_URL": postgres_url}) as process:
        until(lambda: "waiting for it" in said_by(process))
        process.popen.send_signal(sent)
        assert process.end() == code
    assert "Traceback" not in process.err


def test_a_database_that_does_not_exist_is_told_at_once(staying, postgres_url, tmp_path):
    command, _ = staying
    with started(*command, cwd=tmp_path, env={"TOWPATH_DATABASE_URL": f"{postgres_url}_nowhere"}) as process:
        assert process.end() == 2
    assert "TOWPATH_DATABASE_URL" in words(process.err)
    assert "waiting" not in said_by(process)


def test_a_short_command_does_not_wait(postgres_server, postgres_url):
    postgres_server.stop()
    failed = Commands(postgres_url)("jobs", "list", code=2)
    assert "PostgreSQL cannot be reached" in words(failed.output)


async def test_a_signal_in_the_very_moment_in_which_it_is_there_is_not_lost(sqlite_url):
    class Signalled(App):
        async def open(self):
            await super().open()
            signal.raise_signal(signal.SIGTERM)
            await asyncio.sleep(0)  # the loop sees it on its next round

    app = Signalled(sqlite_url)
    assert not await patience._opened_before_a_signal(app, print)
    with pytest.raises(StoreUnavailable, match="not open"):
        await app.now()


async def test_that_it_waits_is_said_once_however_often_it_tries(sqlite_url, monkeypatch):
    class Away(App):
        tries = 0

        async def open(self):
            self.tries += 1
            if self.tries < 5:
                raise StoreUnavailable("PostgreSQL cannot be reached right now")
            await super().open()

    monkeypatch.setattr(patience, "_TRY_AGAIN", 0.0)
    app, said = Away(sqlite_url), []
    assert await patience._opened_before_a_signal(app, said.append)
    await app.close()
    waiting, there = said
    assert waiting.endswith("waiting for it")
    assert there.startswith("PostgreSQL is there")
