"""The reference pages say what the commands and settings say."""

import re

from tests.cli.reference import REFERENCE, cli_page, settings_page
from tests.cli.tree import commands, parameters
from towpath.config import documented


def test_the_command_reference_is_up_to_date():
    page = (REFERENCE / "cli.md").read_text("utf-8")
    assert page == cli_page(), "it is not; run: python -m tests.cli.reference"


def test_every_command_is_documented_with_every_option():
    page = (REFERENCE / "cli.md").read_text("utf-8")
    sections = dict(re.findall(r"^##+ (towpath[ \w-]*)\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL))
    assert sections.keys() == {name for name, _ in commands()}
    for name, command in commands():
        for item in parameters(command):
            for option in item.opts:
                assert f"`{option}" in sections[name] or item.param_type_name == "argument", f"{name} {option}"


def test_every_setting_is_documented():
    page = (REFERENCE / "settings.md").read_text("utf-8")
    assert page == settings_page(), "it is not; run: python -m tests.cli.reference"
    for name, _, meaning in documented():
        assert f"| `{name}` |" in page
        assert meaning in page
