"""towpath doctor --provider asks a provider itself, and says what is missing without saying a secret."""

import subprocess
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cli.bare import Bare
from tests.cli.commands import words
from tests.engine.ordering import case_of
from tests.providers.cases import CASES
from towpath import App
from towpath.providers.catalog import make
from towpath.providers.simulator import Fault, Simulator, served
from towpath.providers.simulator.openai import KEY, OpenAISimulator

SECRET = "a-key-that-nobody-must-see"


def _google(url: str) -> dict[str, Any]:
    from google.oauth2.credentials import Credentials

    return {"project": "simulated", "credentials": Credentials(token=SECRET)}


WRONG: dict[str, Callable[[str], dict[str, Any]]] = {
    "ANTHROPIC": lambda url: {"api_key": SECRET, "base_url": url},
    "AWS": lambda url: {
        "region": "us-east-1", "endpoint_url": url, "access_key_id": "AKIASIMULATOR0000000", "secret_access_key": SECRET,
    },
    "AZURE": lambda url: {"key": SECRET, "endpoint": url},
    "GEMINI": lambda url: {"api_key": SECRET, "base_url": url},
    "GOOGLE": lambda url: _google(url) | {"endpoint": url, "storage_endpoint": url},
    "OPENAI": lambda url: {"api_key": SECRET, "base_url": f"{url}/v1"},
    "OPENAI_COMPATIBLE": lambda url: {"api_key": SECRET, "base_url": f"{url}/v1"},
    "SARVAM": lambda url: {"key": SECRET, "endpoint": url},
    "VERTEX": lambda url: _google(url) | {"location": "europe-west4", "base_url": url, "bucket": SimpleNamespace()},
}  # fmt: skip

everywhere = pytest.mark.parametrize("provider", [case.name for case in CASES])


@pytest.fixture
def simulator(provider):
    made = case_of(provider).simulator()
    with served(made):
        yield made


@pytest.fixture(autouse=True)
def nothing_in_the_environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def with_adapter(monkeypatch, provider: str, factory: Callable[[], Any]) -> None:
    """An app of somebody's own, which says how the provider is made; it is named with --app."""
    app = App("sqlite:///shop.db")
    app.provider(provider, factory)
    monkeypatch.setattr("tests.cli.shop.ordering", app, raising=False)


def examined(towpath, provider: str, code: int = 0) -> dict[str, dict[str, Any]]:
    found = towpath.json("doctor", "--provider", provider, "--app", "tests.cli.shop:ordering", code=code)
    return {one["topic"]: one for one in found}


@everywhere
def test_a_provider_that_answers_is_well_and_nothing_is_ordered(towpath, monkeypatch, provider, simulator: Simulator):
    with_adapter(monkeypatch, provider, lambda: case_of(provider).adapter(simulator))
    found = examined(towpath, provider)
    assert [(topic, one["level"]) for topic, one in found.items()] == [
        ("library", "ok"), ("credentials", "ok"), ("endpoint", "ok"),
    ]  # fmt: skip
    assert "takes the credentials" in found["endpoint"]["message"]
    assert not simulator.ledger.paid


@everywhere
def test_wrong_credentials_are_told_and_not_shown(towpath, monkeypatch, provider, simulator: Simulator):
    with_adapter(monkeypatch, provider, lambda: make(provider, **WRONG[provider](simulator.url)))
    found = examined(towpath, provider, code=1)
    assert found["credentials"]["level"] == "ok", "there are some"
    assert found["endpoint"]["level"] == "problem"
    assert provider in found["endpoint"]["message"]
    assert "check" in found["endpoint"]["remedy"]
    shown = towpath("doctor", "--provider", provider, "--app", "tests.cli.shop:ordering", code=1).output
    assert SECRET not in f"{found}{shown}"
    assert "1 problem" in shown


@everywhere
def test_a_provider_that_is_not_there_is_told_from_wrong_credentials(towpath, monkeypatch, provider):
    nowhere = SimpleNamespace(url="http://127.0.0.1:1")
    with_adapter(monkeypatch, provider, lambda: case_of(provider).adapter(nowhere))  # type: ignore[arg-type]
    found = examined(towpath, provider, code=1)["endpoint"]
    assert found["level"] == "problem"
    assert "could not be reached" in found["message"]
    assert "network" in found["remedy"]


@pytest.mark.parametrize("provider", ["OPENAI"])
def test_what_the_library_reads_from_the_environment_is_what_is_checked(towpath, monkeypatch, provider, simulator):
    assert isinstance(simulator, OpenAISimulator)
    found = {one["topic"]: one for one in towpath.json("doctor", "--provider", "openai", code=1)}
    assert "OPENAI_API_KEY" in found["credentials"]["message"]
    assert "endpoint" not in found
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{simulator.url}/v1")
    assert "0 problems" in towpath("doctor", "--provider", "openai").stdout
    monkeypatch.setenv("OPENAI_BASE_URL", simulator.url)
    found = {one["topic"]: one for one in towpath.json("doctor", "--provider", "openai", code=1)}
    assert "/v1" in found["endpoint"]["remedy"]


@pytest.mark.parametrize("provider", ["OPENAI"])
def test_one_that_is_asked_too_often_is_something_to_know(towpath, monkeypatch, provider, simulator):
    with_adapter(monkeypatch, provider, lambda: case_of(provider).adapter(simulator))
    simulator.arm(Fault.RATE_LIMITED)
    assert examined(towpath, provider)["endpoint"]["level"] == "note"


def test_a_name_that_nobody_has_lists_those_there_are(towpath):
    said = words(towpath("doctor", "--provider", "AVIAN", code=2).stderr)
    assert "'AVIAN'" in said
    assert "SARVAM" in said
    assert "your own workers" in words(towpath("doctor", "--provider", "local", code=2).stderr)


def test_a_provider_without_its_library_says_how_to_install_it(tmp_path):
    bare = Bare(tmp_path / "env", "server")
    asked = bare.command("doctor", "--provider", "sarvam")
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 1, done.stderr
    assert "sarvamai is not installed" in done.stdout
    assert "pip install 'towpath[sarvam]'" in done.stdout
    assert not list(tmp_path.glob("towpath*"))


def test_an_adapter_that_cannot_be_tried_is_no_problem(towpath, monkeypatch):
    class Shy:
        name = "SHY"

        async def check(self, order=None):
            pass

        async def aclose(self):
            pass

    with_adapter(monkeypatch, "SHY", Shy)
    found = examined(towpath, "SHY")
    assert found["endpoint"]["level"] == "note"
    assert "without an order" in found["endpoint"]["message"]
