"""Adapters by their names, with options that fit or do not."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.providers.cases import CASES
from towpath import App, ConfigurationError, Settings, batches
from towpath.config import load, secrets
from towpath.providers import Probing, Provider
from towpath.providers.catalog import PROVIDERS, SETTINGS, make, make_here
from towpath.providers.simulator import Simulator, served


def test_every_provider_of_the_contract_suite_is_in_the_list_and_the_other_way_round():
    assert {case.name for case in CASES} == set(PROVIDERS)


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_an_entry_says_what_its_adapter_does(name: str):
    entry = PROVIDERS[name]
    adapter = getattr(import_module(entry.module), entry.class_name)
    assert adapter.task_types == entry.task_types
    assert entry.text


def test_a_name_that_is_unknown_is_answered_with_those_that_are_known():
    with pytest.raises(ConfigurationError, match="OPENAI, OPENAI_COMPATIBLE"):
        make("OPENAY")


def test_options_that_do_not_fit_are_told():
    with pytest.raises(ConfigurationError, match="colour"):
        make("OPENAI", colour="blue")


async def test_an_endpoint_that_nobody_named_is_not_taken_for_openais():
    with pytest.raises(ConfigurationError, match="base_url"):
        await make("OPENAI_COMPATIBLE", api_key="secret").check()


@pytest.mark.parametrize("name", ["ANTHROPIC", "GEMINI", "OPENAI", "OPENAI_COMPATIBLE", "VERTEX"])
def test_an_adapter_is_made_without_a_library_or_a_credential(name: str):
    assert make(name).name == name


def of_an_installation(name: str, environ: dict[str, str]) -> Provider:
    app = App("sqlite:///nowhere.db", settings=load(environ))
    batches.attach(app)
    return app.declared_providers().get(name)


SAID = {
    "AZURE": ("TOWPATH_AZURE_SPEECH_ENDPOINT", "TOWPATH_AZURE_SPEECH_KEY", ""),
    "OPENAI_COMPATIBLE": ("TOWPATH_OPENAI_COMPATIBLE_URL", "TOWPATH_OPENAI_COMPATIBLE_KEY", "/v1"),
}
"""Those that have no library of their own which would read the environment."""


@pytest.mark.parametrize("name", sorted(SAID))
async def test_who_has_no_variables_of_a_library_is_set_up_by_settings(name: str):
    module, (where, key, path) = import_module(f"tests.providers.{name.lower()}"), SAID[name]
    made: Simulator = module.simulator()
    with served(made) as url:
        provider = of_an_installation(name, {where: url + path, key: module.KEY})
        await provider.check()
        assert isinstance(provider, Probing)
        assert await provider.probe()
        await provider.aclose()


@pytest.mark.parametrize("name", sorted(SAID))
async def test_what_is_not_set_up_is_named_with_its_settings(name: str):
    with pytest.raises(ConfigurationError, match=SAID[name][0]):
        await of_an_installation(name, {}).check()


@pytest.mark.parametrize(("name", "option"), [(name, option) for name in SETTINGS for option in SETTINGS[name]])
def test_each_setting_is_there_and_reaches_its_adapter(name: str, option: str):
    """An adapter that does not know the option would refuse it."""
    setting = SETTINGS[name][option]
    assert make_here(name, load({f"TOWPATH_{setting.upper()}": "https://said.example"})).name == name
    if any(part in setting for part in ("key", "secret", "token")):
        assert f"TOWPATH_{setting.upper()}" in secrets()
    assert "said" not in repr(Settings(**{setting: "said"})) or f"TOWPATH_{setting.upper()}" not in secrets()
