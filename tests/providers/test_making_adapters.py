"""Adapters by their names, with options that fit or do not."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.providers.cases import CASES
from towpath import ConfigurationError
from towpath.providers.catalog import PROVIDERS, make


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
