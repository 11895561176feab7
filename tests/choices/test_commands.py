"""towpath models: services, the default, and what is in use, on a database."""

import pytest

from tests.cli.commands import Commands, words
from tests.models.wire_server import WireServer
from towpath import App
from towpath.server import attach

KEY = "sk-by-command"


@pytest.fixture
def towpath(sqlite_url: str) -> Commands:
    return Commands(sqlite_url)


def test_a_service_is_added_tried_used_listed_and_removed(towpath: Commands, wire: WireServer):
    added = towpath("models", "add-service", "box", "--url", wire.url, "--model", "m", "--key-stdin", stdin=f"{KEY}\n")
    assert "service/box is set up" in added.stdout
    assert "and said: Guten Morgen." in words(towpath("models", "test", "box").stdout)
    assert wire.asked[-1].headers["authorization"] == f"Bearer {KEY}"
    listed = towpath.json("models", "list")
    assert [one["state"] for one in listed if one["name"] == "service/box"] == ["configured"]
    towpath("models", "use", "service/box")
    listed = towpath.json("models", "list")
    assert [one["state"] for one in listed if one["kind"] == "speech service"] == ["in use"]
    assert KEY not in str(listed)
    refused = towpath("models", "remove-service", "box", code=2)
    assert "choose another default first" in words(refused.stderr)
    towpath("models", "use", "environment")
    towpath("models", "remove-service", "box")
    assert "no service is called 'box'" in words(towpath("models", "remove-service", "box", code=2).stderr)


def test_a_model_that_is_not_here_is_not_used(towpath: Commands):
    said = words(towpath("models", "use", "moonshine/base-es", code=2).stderr)
    assert "is not on this machine" in said
    assert "towpath models pull moonshine/base-es" in said


def test_a_service_that_does_not_answer_is_told_and_is_a_failure(towpath: Commands, wire: WireServer):
    url = wire.url
    towpath("models", "add-service", "box", "--for", "chat", "--url", url.replace("/v1", "/nothing"), "--model", "m")
    from tests.models.wire_server import Answer

    wire.always = lambda asked: Answer({"error": {"message": "no such place"}}, 404)
    said = words(towpath("models", "test", "box", code=2).stderr)
    assert "answered 404: no such place" in said


def test_a_database_without_a_server_lists_models_as_the_settings_say(tmp_path):
    towpath = Commands(f"sqlite:///{tmp_path}/plain.db")
    towpath("migrate")
    assert any(one["state"] == "in use" for one in towpath.json("models", "list"))
    assert attach(App(towpath.url)) is not None
