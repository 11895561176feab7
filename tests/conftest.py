"""Databases for every test: a fresh SQLite file, a fresh PostgreSQL database, or each in turn."""

from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.model import profiles
from tests.services import young_clocks
from tests.services.missing import lacking, left_out
from tests.services.postgres import PostgresServer
from tests.services.postgres_programs import PostgresMissing
from tests.services.rabbitmq import RabbitMissing, RabbitServer
from tests.services.sqs import SqsMissing, SqsServer
from tests.services.weed import BUCKET, WeedMissing, WeedServer

young_clocks.begin()
profiles.load()  # before any test is built, also where only a part of them is run

_numbers = count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server per test process, started by the first test that wants it."""
    try:
        server = PostgresServer()
    except PostgresMissing as missing:
        lacking("PostgreSQL", str(missing))
    with server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """An empty database of its own. A test that stops or kills the server may leave it so."""
    postgres_server.start()
    name = f"test_{next(_numbers)}"
    yield postgres_server.create_database(name)
    postgres_server.start()
    postgres_server.drop_database(name)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[WeedServer]:
    """One S3 server per test process, started by the first test that wants it."""
    try:
        server = WeedServer()
    except WeedMissing as missing:
        lacking("an S3 server", str(missing))
    try:
        server.start()
        yield server
    finally:
        server.close()


@pytest.fixture
def s3_url(s3_server: WeedServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder of its own in a bucket, with the credentials in the environment."""
    for name, value in s3_server.env.items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/test-{next(_numbers)}"


@pytest.fixture(scope="session")
def sqs_server() -> Iterator[SqsServer]:
    """One SQS endpoint per test process, started by the first test that wants it."""
    try:
        server = SqsServer()
    except SqsMissing as missing:
        lacking("an SQS endpoint", str(missing))
    with server:
        yield server


@pytest.fixture
def sqs_env(sqs_server: SqsServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """AWS's own variables are set to it, also for processes that the test starts."""
    for name, value in sqs_server.env.items():
        monkeypatch.setenv(name, value)
    return sqs_server.env


@pytest.fixture(scope="session")
def rabbit_server() -> Iterator[RabbitServer]:
    """One RabbitMQ per test process, started by the first test that wants it."""
    try:
        server = RabbitServer()
    except RabbitMissing as missing:
        lacking("RabbitMQ", str(missing))
    with server:
        yield server


@pytest.fixture
def rabbit_url(rabbit_server: RabbitServer) -> str:
    """A prefix of its own. A test that stops the server may leave it so."""
    rabbit_server.start()
    return f"{rabbit_server.url}?prefix=test-{next(_numbers)}"


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/jobs.db"


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """Runs the test once on each database."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What a test logged travels to the main process as UTF-8, so a lone surrogate in it is shown, not sent."""
    report = yield
    report.sections = [(title, text.encode("utf-8", "backslashreplace").decode()) for title, text in report.sections]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was left out, and what would bring it: in a few lines, where everybody sees them."""
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    if lines := left_out(str(where[2]) for where in skipped if isinstance(where, tuple)):
        terminalreporter.section("left out")
        for line in lines:
            terminalreporter.write_line(line)


class FailuresAtOnce:
    """Tells of a failure when it happens: a run that is stopped from outside must not take them with it."""

    def __init__(self, terminal: pytest.TerminalReporter):
        self.terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.terminal.ensure_newline()
            self.terminal.write_line(f"{report.when} of {report.nodeid} failed:\n{report.longreprtext[-4000:]}")


@pytest.hookimpl(trylast=True)  # after the reporter is there
def pytest_configure(config: pytest.Config) -> None:
    terminal = config.pluginmanager.getplugin("terminalreporter")
    if terminal and not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailuresAtOnce(terminal), "failures-at-once")
