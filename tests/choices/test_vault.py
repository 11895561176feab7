"""Keys of services at rest: encrypted, for one service at one address, with a secret that is in no copy of the database."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from towpath import App, ConfigurationError, Settings
from towpath.choices.vault import file_of, opened, sealed

KEY = "sk-between-us"


def app_on(folder: Path, **settings: str) -> App:
    return App(f"sqlite:///{folder}/jobs.db", settings=Settings(**settings))  # type: ignore[arg-type]


def test_a_key_is_read_again_and_is_not_in_what_is_kept(tmp_path: Path):
    kept = sealed(app_on(tmp_path), KEY, "box", "https://one/v1")
    assert KEY not in kept
    assert opened(app_on(tmp_path), kept, "box", "https://one/v1") == KEY
    assert sealed(app_on(tmp_path), KEY, "box", "https://one/v1") != kept


def test_the_secret_lies_beside_the_database_for_nobody_else_and_is_made_once(tmp_path: Path):
    sealed(app_on(tmp_path), KEY, "box", "https://one/v1")
    path = file_of(tmp_path / "jobs.db")
    first = path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    sealed(app_on(tmp_path), KEY, "other", "https://one/v1")
    assert path.read_text() == first
    assert sorted(one.name for one in tmp_path.iterdir()) == ["jobs.db-secret"]


@pytest.mark.parametrize(("service", "url"), [("other", "https://one/v1"), ("box", "https://two/v1")])
def test_a_kept_key_moved_to_another_service_or_address_cannot_be_read(tmp_path: Path, service: str, url: str):
    kept = sealed(app_on(tmp_path), KEY, "box", "https://one/v1")
    with pytest.raises(ConfigurationError, match=r"another secret.*enter the key again"):
        opened(app_on(tmp_path), kept, service, url)


def test_a_database_that_came_without_its_secret_says_so_and_makes_no_new_one(tmp_path: Path):
    kept = sealed(app_on(tmp_path), KEY, "box", "https://one/v1")
    elsewhere = tmp_path / "restored"
    elsewhere.mkdir()
    with pytest.raises(ConfigurationError, match=r"there is no file .*jobs\.db-secret.*enter the key again"):
        opened(app_on(elsewhere), kept, "box", "https://one/v1")
    assert not list(elsewhere.iterdir())


def test_the_setting_counts_before_the_file_and_has_to_be_long(tmp_path: Path):
    app = app_on(tmp_path, secret_key="s" * 32)
    kept = sealed(app, KEY, "box", "https://one/v1")
    assert not list(tmp_path.iterdir())
    assert opened(app, kept, "box", "https://one/v1") == KEY
    app.settings = replace(app.settings, secret_key="t" * 32)
    with pytest.raises(ConfigurationError, match="another secret"):
        opened(app, kept, "box", "https://one/v1")
    app.settings = replace(app.settings, secret_key="short")
    with pytest.raises(ConfigurationError, match="at least 32 characters"):
        sealed(app, KEY, "box", "https://one/v1")


def test_on_postgresql_the_setting_is_asked_for():
    app = App("postgresql://nowhere/jobs", settings=Settings())
    with pytest.raises(ConfigurationError, match="set TOWPATH_SECRET_KEY to the same value for the server and all workers"):
        sealed(app, KEY, "box", "https://one/v1")
