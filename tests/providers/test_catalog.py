"""Which providers there are, and that none is imported for nothing."""

import subprocess
import sys

import pytest

from towpath import ConfigurationError
from towpath.providers.catalog import PROVIDERS, make

LIBRARIES = ("boto3", "botocore", "httpx", "google", "sarvamai", "openai", "anthropic", "obstore", "starlette")


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_an_adapter_is_what_its_entry_says_and_needs_its_library_only_when_it_is_used(name: str):
    program = (
        "import sys\n"
        "from towpath.providers.catalog import PROVIDERS, make\n"
        f"provider, entry = make({name!r}), PROVIDERS[{name!r}]\n"
        f"assert provider.name == {name!r} and provider.task_types == entry.task_types\n"
        f"print(*sorted(set({LIBRARIES!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


def test_a_name_that_nobody_has_lists_those_there_are():
    with pytest.raises(ConfigurationError, match="AWS"):
        make("AVIAN")
