"""The example says what it is, goes away as a whole, and does not come back."""

import signal

import pytest

from tests.cli.commands import started, until
from tests.cli.test_up import Running
from tests.services.schedules import of_a_product, own
from towpath import App, Context
from towpath.engine import example

QUICKLY = {"TOWPATH_DRAIN_SECONDS": "0.2"}


@pytest.fixture
def up(tmp_path):
    def start(*args):
        return started("up", "--data", tmp_path / "d", "--port", "0", *args, env=QUICKLY)

    return start


def stop(process):
    process.popen.send_signal(signal.SIGTERM)
    assert process.end(60) == 0, process.err


def nothing_of_it(running):
    return (
        running.get("/api/example") == {"present": False, "demonstration": False}
        and all(of_a_product(job["operation"]) for job in running.jobs())
        and own(running.get("/api/schedules")) == []
        and not [queue for queue in running.get("/api/queues") if queue["queued"] or queue["running"]]
        and not running.get("/api/stats")["totals"]["cost_cents"]
    )


def test_everything_of_the_example_is_named_so_and_one_request_removes_it_for_good(up, tmp_path):
    with up() as process, Running(process) as running:
        until(
            lambda: running.jobs(state="failed") and running.jobs(operation="example.logbook.dictate", state="running"), 90
        )
        assert running.get("/api/example") == {"present": True, "demonstration": False}
        names = {job["operation"] for job in running.jobs()} | {one["name"] for one in running.get("/api/schedules")}
        assert {name.partition(".")[0] for name in names if not of_a_product(name)} == {"example"}

        def removed():
            answer = running.browser.delete("/api/example")
            assert answer.status_code == 200, answer.text
            return answer.json()["left"] == 0

        until(removed, timeout=60)
        until(lambda: nothing_of_it(running))  # figures are a second old
        assert not (tmp_path / "d/example").exists()
        stop(process)
    with up() as process, Running(process) as again:
        assert nothing_of_it(again)
        stop(process)


def test_without_the_example_there_are_neither_jobs_nor_schedules(up):
    with up("--no-example") as process, Running(process) as running:
        assert nothing_of_it(running)
        stop(process)


def test_a_start_without_the_example_leaves_none_of_its_schedules_behind(up):
    with up() as process, Running(process) as running:
        assert len(own(running.get("/api/schedules"))) == 3
        stop(process)
    with up("--no-example") as process, Running(process) as running:
        assert own(running.get("/api/schedules")) == []
        stop(process)


def test_a_command_removes_it_and_leaves_other_jobs(up, tmp_path):
    with up() as process, Running(process) as running:
        until(running.jobs, 60)
        stop(process)
    with started("enqueue", "mine", "--queue", "own", "--payload", "1", "--data", tmp_path / "d") as command:
        assert command.end() == 0, command.err
    with started("example", "remove", "--data", tmp_path / "d") as command:
        assert command.end() == 0, command.err
    assert "of the example removed, and 3 of its schedules" in command.out
    with up() as process, Running(process) as running:
        assert [job["operation"] for job in running.jobs()] == ["mine"]
        stop(process)


async def test_what_somebody_else_has_called_example_is_neither_taken_for_it_nor_removed_with_it(tmp_path):
    own = tmp_path / "example/mine.txt"
    own.parent.mkdir()
    own.write_text("mine")
    async with App(f"sqlite:///{tmp_path}/towpath.db") as app:

        @app.operation("report")
        async def report(_ctx: Context) -> None: ...

        await app.schedules.add("example.of-mine", "0 3 * * *", "report")
        assert not await example.is_there(app)
        await example.remove(app)
        assert own.read_text() == "mine"
        assert [plan.name for plan in await app.schedules.list()] == ["example.of-mine"]


async def test_the_folder_of_the_example_goes_with_it_unless_it_was_there_before(tmp_path):
    for there, name in ((False, "empty"), (True, "used")):
        home = tmp_path / name / "example"
        home.mkdir(parents=True) if there else (tmp_path / name).mkdir()
        (tmp_path / name / "towpath.db").touch()
        example.make_folder(url := f"sqlite:///{tmp_path}/{name}/towpath.db")
        example.make_folder(url)  # begun twice
        async with App(url) as app:
            await example.remove(app)
        assert home.exists() is there
