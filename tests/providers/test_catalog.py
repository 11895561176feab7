"""The list of providers: complete, truthful, and light."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from tests.providers.cases import CASES
from towpath import ConfigurationError
from towpath.providers.catalog import PROVIDERS, make

LIBRARIES = ("openai", "anthropic", "google.genai", "boto3", "sarvamai", "google.cloud.speech", "starlette")


def test_every_provider_of_the_contract_suite_is_in_the_list_and_the_other_way_round():
    assert {case.name for case in CASES} == set(PROVIDERS)


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_an_entry_says_what_its_adapter_does(name: str):
    entry = PROVIDERS[name]
    adapter = getattr(import_module(entry.module), entry.class_name)
    assert adapter.task_types == entry.task_types
    assert entry.text


def test_the_list_and_its_adapters_are_imported_without_any_library():
    modules = sorted({entry.module for entry in PROVIDERS.values()})
    script = f"import sys, {', '.join(modules)}; print([name for name in {LIBRARIES!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_name_that_is_unknown_is_answered_with_those_that_are_known():
    with pytest.raises(ConfigurationError, match="OPENAI, OPENAI_COMPATIBLE"):
        make("OPENAY")


def test_options_that_do_not_fit_are_told():
    with pytest.raises(ConfigurationError, match="base_url"):
        make("OPENAI_COMPATIBLE")
    with pytest.raises(ConfigurationError, match="colour"):
        make("OPENAI", colour="blue")


def test_an_adapter_is_made_by_its_name():
    assert make("OPENAI_COMPATIBLE", base_url="http://127.0.0.1:9/v1").name == "OPENAI_COMPATIBLE"
