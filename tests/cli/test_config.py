"""towpath config, and what must never be shown."""

import pytest

from towpath import config as configuration
from towpath.config import documented
from towpath.core.masking import masked


def test_every_setting_is_shown_with_its_value_default_and_meaning(towpath, monkeypatch):
    monkeypatch.setenv("TOWPATH_LEASE_SECONDS", "60")
    shown = towpath("config").stdout
    for name, _, meaning in documented():
        assert name in shown
        assert meaning in shown
    assert "TOWPATH_LEASE_SECONDS  60 (default 30)" in shown
    rows = {row["name"]: row for row in towpath.json("config")}
    assert (rows["TOWPATH_LEASE_SECONDS"]["value"], rows["TOWPATH_LEASE_SECONDS"]["default"]) == (60.0, 30.0)


def test_a_variable_that_is_no_setting_is_pointed_out(towpath, monkeypatch):
    monkeypatch.setenv("TOWPATH_LEASE_SECOND", "60")
    assert "TOWPATH_LEASE_SECOND is set, but there is no such setting" in towpath("config").stdout
    assert "TOWPATH_LEASE_SECOND is set, but" in towpath("doctor", code=1).stdout


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://alice:s3cret@db:5432/jobs", "postgresql://alice:***@db:5432/jobs"),
        ("postgresql://alice:s3cret/@x@db/jobs", "postgresql://alice:***@db/jobs"),
        ("postgresql://db/jobs?user=alice&password=s3cret&x=1", "postgresql://db/jobs?user=alice&password=***&x=1"),
        ("postgresql://alice@db/jobs", "postgresql://alice@db/jobs"),
        ("sqlite:////data/jobs.db", "sqlite:////data/jobs.db"),
        ("https://sk-s3cret@models.example/v1", "https://***@models.example/v1"),
        ("https://sk-s3cret:@models.example/v1", "https://***:***@models.example/v1"),
        ("https://models.example/v1?api-key=s3cret&v=2", "https://models.example/v1?api-key=***&v=2"),
        ("https://models.example/v1?v=2&X-Amz-Signature=s3cret", "https://models.example/v1?v=2&X-Amz-Signature=***"),
        ("https://models.example/#access_token=s3cret", "https://models.example/#access_token=***"),
        ("postgresql://db/jobs?sslkey=/etc/key.pem", "postgresql://db/jobs?sslkey=/etc/key.pem"),
    ],
)
def test_passwords_are_masked(url, shown):
    assert masked(url) == shown


def test_no_setting_shows_a_key_in_its_address(towpath, monkeypatch):
    """Whatever setting holds an address."""
    for name, default, _ in configuration.documented():
        if isinstance(default, str) and (name.endswith(("_URL", "_ENDPOINT", "_ISSUER"))):
            monkeypatch.setenv(name, "https://k3y@models.example/v1?api_key=s3cret")
    for arguments in ([], ["--json"]):
        shown = towpath("config", *arguments).stdout
        assert "models.example" in shown
        assert "s3cret" not in shown
        assert "k3y" not in shown


def test_no_command_shows_the_password_of_the_database(towpath):
    towpath.url = "postgresql://alice:s3cret@127.0.0.1:1/jobs"
    for command, code in ((["config"], 0), (["doctor"], 1), (["jobs", "list"], 2), (["migrate", "--check"], 2)):
        assert "s3cret" not in towpath(*command, code=code).output
