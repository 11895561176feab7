"""towpath users, token and login-link: letting people and programs in, from the command line."""

import asyncio
import stat
import subprocess
import sys
from contextlib import asynccontextmanager

import httpx
import pytest

from tests.cli.commands import on_a_terminal
from tests.http.hashing import hash_quickly
from towpath import App
from towpath.cli.addresses import noted
from towpath.identity import passwords
from towpath.identity.local import ensure_local_account
from towpath.server import ServerOptions, attach, create_app

PASSWORD = "four quiet barges pass"


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch):
    hash_quickly(monkeypatch)
    yield
    passwords._nobodys.cache_clear()


def with_users(towpath):
    towpath("users", "create", "alice", "--admin", "--tenant", "acme", "--password-stdin", stdin=f"{PASSWORD}\n")
    towpath("users", "create", "bob")
    return towpath


@pytest.fixture
def users(towpath):
    """Runs commands on a database with an administrator alice and a member bob."""
    return with_users(towpath)


def asked(url, *requests, local=False, **headers):
    """Sends requests to a server on the database, as one client; answers what came back."""

    @asynccontextmanager
    async def client():
        app = App(url)
        api = create_app(app, ServerOptions(local=local))
        transport = httpx.ASGITransport(api)
        base = "http://127.0.0.1:8642"
        async with app, httpx.AsyncClient(transport=transport, base_url=base, headers={"origin": base, **headers}) as found:
            yield found

    async def work():
        async with client() as found:
            return [await found.request(*request[:2], json=request[2] if request[2:] else None) for request in requests]

    return asyncio.run(work())


def bearer(token):
    return {"authorization": f"Bearer {token}"}


def test_the_token_is_the_last_word_and_works(towpath_on_both):
    users = with_users(towpath_on_both)
    output = users("token", "create", "--user", "alice").stdout
    token = output.split()[-1]
    [answer] = asked(users.url, ("GET", "/api/session"), **bearer(token))
    assert (answer.json()["account"]["name"], answer.json()["tenant"]) == ("alice", "acme")
    assert answer.json()["scopes"] == ["read", "write", "priority", "admin"]


def test_a_token_has_the_scopes_tenant_and_name_that_were_asked_for(users):
    users("users", "add-tenant", "bob", "globex")
    options = ("--scopes", "read", "--tenant", "globex", "--name", "nightly", "--days", "7")
    token = users("token", "create", "--user", "bob", *options).stdout.split()[-1]
    [listed] = users.json("token", "list")
    assert (listed["name"], listed["account"], listed["tenant"], listed["scopes"]) == ("nightly", "bob", "globex", ["read"])
    assert listed["expires_at"] is not None
    assert token.startswith(listed["prefix"])
    assert token not in users("token", "list").stdout


def test_nobody_gets_scopes_beyond_their_account(users):
    assert "beyond what this account may do" in users("token", "create", "--user", "bob", "--scopes", "admin", code=2).stderr
    assert "there is no scope" in users("token", "create", "--user", "bob", "--scopes", "everything", code=2).stderr


def test_a_token_is_revoked_by_its_id_or_its_beginning(users):
    first, second = (users("token", "create", "--user", "bob").stdout.split()[-1] for _ in range(2))
    by_id = next(item["id"] for item in users.json("token", "list") if first.startswith(item["prefix"]))
    users("token", "revoke", by_id)
    users("token", "revoke", second[:12])
    assert users.json("token", "list") == []
    assert [asked(users.url, ("GET", "/api/session"), **bearer(token))[0].status_code for token in (first, second)] == [
        401
    ] * 2
    assert "no such token" in users("token", "revoke", by_id, code=2).stderr


@pytest.mark.parametrize(
    "command",
    [["token", "create", "--user", "zoe"], ["users", "disable", "zoe"], ["login-link", "--user", "zoe"]],
    ids=" ".join,
)
def test_an_account_that_is_not_there_is_not_made_in_passing(users, command):
    assert "towpath users create zoe" in users(*command, code=2).stderr
    assert {item["name"] for item in users.json("users", "list")} == {"alice", "bob"}


@pytest.mark.parametrize("command", [["token", "create"], ["login-link"], ["users", "list"]], ids=" ".join)
def test_only_making_an_account_makes_a_database(towpath, tmp_path, command):
    assert "there is no database at" in towpath(*command, code=2).stderr
    assert not (tmp_path / "jobs.db").exists()


def test_a_database_that_lacks_the_tables_is_not_migrated_in_passing(towpath, tmp_path):
    (tmp_path / "jobs.db").touch()
    assert "towpath migrate" in towpath("token", "list", code=2).stderr
    towpath("migrate")
    assert "there are no tokens" in towpath("token", "list").stdout


def test_in_local_mode_the_default_user_is_local(towpath):
    async def prepare():
        async with attach(App(towpath.url)) as app:
            await ensure_local_account(app)

    asyncio.run(prepare())
    token = towpath("token", "create").stdout.split()[-1]
    [answer] = asked(towpath.url, ("GET", "/api/session"), local=True, **bearer(token))
    assert answer.json()["account"]["name"] == "local"
    link = towpath("login-link").stdout.strip()
    assert link.startswith("http://127.0.0.1:8642/login?token=")
    entering = ("POST", "/api/session/link", {"token": link.partition("token=")[2]})
    first, second = asked(towpath.url, entering, entering, local=True)
    assert (first.json()["account"]["name"], second.status_code) == ("local", 401)


def test_a_link_leads_to_where_the_server_runs_now(users):
    with noted(users.url, "http://127.0.0.1:9001"):
        assert users("login-link", "--user", "bob").stdout.startswith("http://127.0.0.1:9001/login?token=")
        with noted(users.url, "http://127.0.0.1:9002"):
            assert users("users", "reset-link", "bob").stdout.startswith("http://127.0.0.1:9002/reset?token=")
            given = users("login-link", "--user", "bob", "--base-url", "https://jobs.example").stdout
            assert given.startswith("https://jobs.example/login")


def test_a_link_says_if_no_server_runs_that_it_would_lead_to(users):
    for command, page in ((["login-link", "--user", "bob"], "login"), (["users", "reset-link", "bob"], "reset")):
        alone = users(*command)
        assert alone.stdout.startswith(f"http://127.0.0.1:8642/{page}?token=")
        assert "no server runs on this database" in alone.stderr
        with noted(users.url, "http://127.0.0.1:9001"):
            assert users(*command).stderr == ""
        assert users(*command, "--base-url", "https://jobs.example").stderr == ""


def test_without_the_local_account_the_user_is_to_be_named(users):
    for command in (["token", "create"], ["login-link"]):
        assert "--user" in users(*command, code=2).stderr


def test_a_data_directory_names_its_database(towpath, tmp_path):
    towpath("users", "create", "alice", "--data", "there")
    assert stat.S_IMODE((tmp_path / "there").stat().st_mode) == 0o700
    assert (tmp_path / "there" / "towpath.db").exists()
    assert towpath.json("users", "list", "--data", "there")[0]["name"] == "alice"
    assert towpath("token", "create", "--user", "alice", "--data", "there").stdout.split()[-1].startswith("tow_")
    refused = towpath("users", "list", "--data", "there", "--database", towpath.url, code=2)
    assert "two databases" in refused.stderr


def test_an_account_with_a_password_can_log_in(users):
    [answer] = asked(users.url, ("POST", "/api/session", {"name": "alice", "password": PASSWORD}))
    assert answer.json()["account"] == {"id": answer.json()["account"]["id"], "name": "alice", "admin": True}


def test_passwords_are_changed_and_weak_ones_refused(users):
    new = "eleven loud lorries wait"
    users("users", "passwd", "alice", "--password-stdin", stdin=f"{new}\n")
    old, right = asked(
        users.url,
        ("POST", "/api/session", {"name": "alice", "password": PASSWORD}),
        ("POST", "/api/session", {"name": "alice", "password": new}),
    )
    assert (old.status_code, right.status_code) == (401, 200)
    assert "common word" in users("users", "passwd", "alice", "--password-stdin", stdin="password1234\n", code=2).stderr
    assert "--password-stdin" in users("users", "passwd", "alice", code=2).stderr


def test_a_new_password_tells_of_tokens_that_still_hold_and_ends_them_if_asked(users):
    token = users("token", "create", "--user", "alice").stdout.split()[-1]
    given = {"stdin": "eleven loud lorries wait\n"}
    told = users("users", "passwd", "alice", "--password-stdin", **given).stdout
    assert "1 API token still holds: --revoke-tokens ends them" in told
    assert asked(users.url, ("GET", "/api/session"), **bearer(token))[0].status_code == 200
    assert "1 API token revoked" in users("users", "passwd", "alice", "--password-stdin", "--revoke-tokens", **given).stdout
    assert asked(users.url, ("GET", "/api/session"), **bearer(token))[0].status_code == 401
    assert "token" not in users("users", "passwd", "alice", "--password-stdin", **given).stdout


@pytest.mark.parametrize(
    ("said", "told", "status"), [("y", "1 API token revoked", 401), ("n", "1 API token still holds", 200)]
)
def test_on_a_terminal_a_new_password_asks_what_becomes_of_tokens(users, said, told, status):
    token = users("token", "create", "--user", "alice").stdout.split()[-1]
    shown = on_a_terminal(
        ("users", "passwd", "alice"), {"TOWPATH_DATABASE_URL": users.url},
        ("password: ", PASSWORD), ("confirmation: ", PASSWORD), ("tokens too (1)?", said),
    )  # fmt: skip
    assert told in shown
    assert asked(users.url, ("GET", "/api/session"), **bearer(token))[0].status_code == status


def test_a_reset_link_lets_somebody_choose_a_password(users):
    link = users("users", "reset-link", "bob", "--base-url", "https://jobs.example/towpath").stdout.strip()
    assert link.startswith("https://jobs.example/towpath/reset?token=")
    asking = {"token": link.partition("token=")[2], "password": PASSWORD}
    [answer] = asked(users.url, ("POST", "/api/session/reset", asking))
    assert answer.json()["account"]["name"] == "bob"


def test_a_disabled_account_is_kept_out_until_that_is_undone(users):
    token = users("token", "create", "--user", "bob").stdout.split()[-1]
    users("users", "disable", "bob")
    assert asked(users.url, ("GET", "/api/session"), **bearer(token))[0].status_code == 401
    assert "disabled" in users("users", "list").stdout
    users("users", "disable", "bob", "--undo")
    assert asked(users.url, ("GET", "/api/session"), **bearer(token))[0].status_code == 200
    assert "last administrator" in users("users", "disable", "alice", code=2).stderr


def test_a_name_is_taken_once_and_local_is_kept(users):
    assert "already an account" in users("users", "create", "ALICE", code=2).stderr
    assert "kept for local mode" in users("users", "create", "Local", code=2).stderr


def test_what_was_done_is_in_the_audit_log(users):
    token = users("token", "create", "--user", "alice", "--name", "ci").stdout.split()[-1]
    [answer] = asked(users.url, ("GET", "/api/audit"), **bearer(token))
    lines = answer.json()["items"]
    assert [line["action"] for line in lines] == ["token.create", "user.create", "user.create"]
    assert {line["via"] for line in lines} == {"cli"}
    assert token not in answer.text
    assert PASSWORD not in answer.text


def test_the_providers_secret_is_not_shown(towpath, monkeypatch):
    monkeypatch.setenv("TOWPATH_OIDC_CLIENT_SECRET", "hunter2")
    assert "hunter2" not in towpath("config").output
    assert "hunter2" not in towpath("config", "--json").output


def test_commands_start_without_the_servers_parts():
    """They are an extra, and slow to load."""
    heavy = {"fastapi", "uvicorn", "httpx", "pwdlib", "authlib"}
    code = f"import sys, towpath.cli.root; print(sorted({heavy} & sys.modules.keys()))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "[]"
