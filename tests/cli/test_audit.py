"""Every command that changes something leaves a line in the audit log. A new command has to say here whether it does."""

import asyncio
import os
import pwd

import pytest

from tests.cli.tree import commands, is_group
from tests.http.hashing import hash_quickly
from towpath import App, Settings, assets, documents, fleet, new_id
from towpath.documents import intake as documents_intake
from towpath.documents import stored as documents_stored
from towpath.documents.intake import Given
from towpath.fleet import intake as fleet_intake
from towpath.http import audit
from towpath.identity import passwords
from towpath.identity.slice import SLICE
from towpath.testing import drain

PASSWORD = "four quiet barges pass"
USER = pwd.getpwuid(os.getuid()).pw_name

LOOKING = {
    "jobs list", "jobs show", "jobs watch", "explain", "inbox", "inbox list", "queues", "queues show",
    "queues lanes", "workers", "schedules", "users list", "token list", "doctor", "backup", "config", "version",
    "models list", "models pull", "models test", "batch list", "batch status", "batch results", "batch watch",
    "batch dataset list", "documents list", "documents show", "documents runs", "documents run", "search",
    "fleet tasks", "fleet status", "fleet workers",
}  # fmt: skip
"""Change nothing in the database; models are files of the machine."""
RUNNING = {
    "up", "serve", "worker", "transcribe", "watch", "demo batches", "ingest", "mcp", "fleet orchestrate", "fleet worker",
}  # fmt: skip
"""Run what others have asked for, or ask a server, which has its own lines."""
WITH_WORK = {
    "documents reingest": ("documents.run", ["{document}"]),
    "documents cancel": ("documents.cancel", ["{begun}"]),
    "documents requeue": ("documents.retry", ["{run}"]),
    "documents delete": ("documents.delete", ["{document}"]),
    "fleet cancel": ("fleet.cancel", ["{task}"]),
    "fleet retry": ("fleet.retry", ["{given_up}"]),
}
"""Change something that only work brings into being."""
CHANGING = {
    "enqueue": ("job.create", ["add", "--queue", "sums"]),
    "jobs cancel": ("job.cancel", ["{queued}", "--reason", "not needed"]),
    "jobs retry": ("job.retry", ["{failed}"]),
    "jobs delete": ("job.delete", ["{failed}"]),
    "inbox requeue": ("inbox.requeue", ["--all"]),
    "queues pause": ("queue.pause", ["sums"]),
    "queues resume": ("queue.resume", ["sums"]),
    "queues cap": ("queue.cap", ["sums", "2"]),
    "queues lane": ("lane.set", ["sums", "alice", "--weight", "3"]),
    "schedules add": ("schedule.create", ["weekly", "0 3 * * 1", "add", "--queue", "sums"]),
    "schedules remove": ("schedule.delete", ["by-hand"]),
    "schedules pause": ("schedule.pause", ["by-hand"]),
    "schedules resume": ("schedule.resume", ["by-hand"]),
    "login-link": ("user.login_link", ["--user", "bob"]),
    "users create": ("user.create", ["carol"]),
    "users disable": ("user.update", ["bob"]),
    "users passwd": ("password.set", ["bob", "--password-stdin"]),
    "users reset-link": ("user.reset_link", ["bob"]),
    "users add-tenant": ("user.update", ["bob", "globex"]),
    "token create": ("token.create", ["--user", "bob"]),
    "token revoke": ("token.revoke", ["{token}"]),
    "example remove": ("example.remove", []),
    "batch complete": ("batch.create", ["{questions}", "--model", "m"]),
    "batch cancel": ("batch.cancel", ["{batch}"]),
    "batch retry": ("batch.retry", ["{stopped}"]),
    "batch adopt": ("batch.adopt", ["{batch}", "{order}", "ext-1"]),
    "batch resubmit": ("batch.resubmit", ["{batch}", "{order}"]),
    "batch dataset add": ("dataset.create", ["{questions}"]),
    "batch dataset remove": ("dataset.delete", ["{dataset}"]),
    "batch transcribe": ("batch.create", ["https://example.com/a.wav"]),
    "fleet worker-add": ("fleet.worker_add", ["van-1"]),
    "fleet worker-revoke": ("fleet.worker_revoke", ["{remote}"]),
    "models use": ("models.default", ["environment"]),
    "models add-service": (
        "models.service.create",
        ["box", "--url", "http://127.0.0.1:9/v1", "--model", "m"],
    ),
    "models remove-service": ("models.service.delete", ["kept"]),
    "limits set": ("limit.set", ["alice", "500"]),
    "limits clear": ("limit.clear", ["rich"]),
    "prune": ("jobs.prune", ["--older-than", "30d"]),
    "migrate": ("schema.migrate", []),
}


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch):
    hash_quickly(monkeypatch)
    yield
    passwords._nobodys.cache_clear()


def lines(towpath):
    async def look():
        app = App(towpath.url, blobs_on_start=False)
        app.add_slice(SLICE)
        async with app:
            return await audit.page(app.services.store, limit=1000)

    return asyncio.run(look())


@pytest.fixture
def named(towpath, tmp_path, monkeypatch):
    """A database with something for every command, and the ids it needs."""
    monkeypatch.setenv("TOWPATH_CHAT_URL", "http://127.0.0.1:9/v1")  # which no command asks
    towpath("migrate")
    failed = towpath.enqueue("break", {})
    towpath.drain()
    found = {"failed": failed, "queued": towpath.enqueue("add", {"a": 1, "b": 2})}
    towpath("users", "create", "bob", "--password-stdin", stdin=f"{PASSWORD}\n")
    towpath("token", "create", "--user", "bob")
    towpath("schedules", "add", "by-hand", "0 3 * * *", "add", "--queue", "sums")
    towpath("limits", "set", "rich", "500")
    towpath("models", "add-service", "kept", "--url", "http://127.0.0.1:9/v1", "--model", "m")
    towpath("fleet", "worker-add", "van")
    found["remote"] = towpath.json("fleet", "workers")[0]["id"]
    return {**found, "token": towpath.json("token", "list")[0]["id"], **batches(towpath, tmp_path / "questions.jsonl")}


def batches(towpath, questions):
    """One that is under way, with an order whose answer was lost, and one that was stopped."""
    questions.write_text('{"custom_id": "a", "body": {"messages": []}}', "utf-8")
    made = towpath.json("batch", "complete", questions, "--model", "m")
    stopped = towpath("batch", "complete", questions, "--model", "m").stdout.strip()
    towpath("batch", "cancel", stopped)
    order = new_id()

    async def lose_an_answer():
        async with App(towpath.url, blobs_on_start=False) as app, app.transaction() as tx:
            await tx.execute(
                "INSERT INTO towpath_provider_job (id, job_id, name, part, tenant, provider, model, key, ordered, state) "
                "VALUES (?, ?, 'submit OPENAI', 0, 'default', 'OPENAI', 'm', ?, '{}', 'unknown')",
                order, made["job_id"], f"tow-{order}",
            )  # fmt: skip

    asyncio.run(lose_an_answer())
    dataset = towpath.json("batch", "dataset", "add", questions)["id"]
    return {"questions": questions, "batch": made["id"], "stopped": stopped, "order": order, "dataset": dataset}


@pytest.fixture
def worked(towpath, tmp_path):
    """What has come of a file that could be read and of one that could not; and tasks of a fleet."""

    async def work():
        app = App(towpath.url, settings=Settings(blobs_url=(tmp_path / "blobs").as_uri()))
        documents.attach(app)
        fleet.attach(app)
        async with app:
            found = {"run": await reading(app, "canal.txt", "bad.pdf")}
            await drain(app)
            found["begun"] = await reading(app, "later.txt")
            [document] = await documents_stored.documents_page(app, "default", before=None, limit=2)
            found |= {"document": document.id, "task": await task(app), "given_up": await task(app)}
        return found

    towpath("migrate")
    found = asyncio.run(work())
    towpath("fleet", "cancel", found["given_up"])
    return found


async def reading(app, *names):
    given = [Given(asset_id=await sent(app, name)) for name in names]
    return (await documents_intake.create(app, documents_intake.Wanted("upload", given), documents_intake.Owner("default")))[
        0
    ]


async def task(app):
    return (await fleet_intake.create(app, fleet_intake.Wanted(), await sent(app, "a.wav"), fleet_intake.Owner("default")))[
        0
    ]


async def sent(app, name):
    async def pieces():
        yield b"%PDF-1.4 and nothing more" if name.endswith("pdf") else b"The barge is late."

    return (await assets.receive(app, "default", name, pieces(), kinds=None, created_by=None)).id


def test_of_every_command_it_is_said_whether_it_changes_something():
    names = {name.removeprefix("towpath ") for name, command in commands() if name != "towpath"}
    groups = {name.removeprefix("towpath ") for name, command in commands() if is_group(command)}
    told = LOOKING | RUNNING | WITH_WORK.keys() | CHANGING.keys()
    assert names - groups <= told
    assert told <= names


@pytest.mark.parametrize("command", sorted(CHANGING.keys() - {"migrate"}))
def test_a_command_that_changes_something_is_in_the_log_with_who_ran_it(towpath, named, command):
    action, words = CHANGING[command]
    before = {line.id for line in lines(towpath)}
    towpath(*command.split(), *[word.format(**named) for word in words], stdin=f"{PASSWORD} too\n")
    [line] = [line for line in lines(towpath) if line.id not in before]
    assert (line.action, line.via, line.account) == (action, "cli", USER)
    assert line.target is None or PASSWORD not in line.target
    assert PASSWORD not in str(line.details)


def test_a_command_that_changes_what_work_has_brought_is_in_the_log_too(towpath, worked):
    for command, (action, words) in WITH_WORK.items():
        before = {line.id for line in lines(towpath)}
        towpath(*command.split(), *[word.format(**worked) for word in words])
        [line] = [line for line in lines(towpath) if line.id not in before]
        assert (line.action, line.via, line.account) == (action, "cli", USER)
        assert line.target in worked.values() or command == "documents reingest"


def test_migrations_are_in_the_log_that_they_bring(towpath_on_both):
    towpath_on_both("migrate")
    [line] = lines(towpath_on_both)
    assert (line.action, line.via, line.account) == ("schema.migrate", "cli", USER)
    assert "engine 0001 engine" in line.details["applied"]
    towpath_on_both("migrate")
    assert len(lines(towpath_on_both)) == 1


def test_what_could_not_be_done_is_not_in_the_log(towpath, named):
    before = len(lines(towpath))
    towpath("queues", "pause", "nosuch", code=2)
    towpath("jobs", "cancel", named["failed"], code=2)
    towpath("schedules", "remove", "nosuch", code=2)
    assert len(lines(towpath)) == before


def test_a_database_without_accounts_has_no_log_and_its_jobs_move_all_the_same(towpath_on_both):
    job_id = towpath_on_both.enqueue("add", {"a": 1, "b": 2})
    towpath_on_both("jobs", "cancel", job_id)
    towpath_on_both("queues", "pause", "sums")
    assert towpath_on_both.json("jobs", "show", job_id)["state"] == "cancelled"
