"""What the documentation says about the tree is true of the tree."""

import ast
import os
import re
import shlex
import subprocess
import tomllib

import pytest

import towpath
from tests.docs.pages import DOCS, PAGES, ROOT, blocks, name_of
from tests.docs.tables import bare, table_with

PACKAGE = ROOT / "src/towpath"
WRITTEN = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


def _rooms():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    return packages | modules


def test_the_architecture_page_lists_every_room_and_no_other():
    listed = {bare(row["room"]) for row in table_with(DOCS / "architecture.md", "room", "what is in it")}
    assert listed == _rooms()


def test_the_tree_in_contributing_is_the_tree():
    [tree] = [block for block in blocks(ROOT / "CONTRIBUTING.md", "") if "src/towpath/" in block.text]
    rooms = set(re.findall(r"^  ([\w]+)(?:/|\.py) ", tree.text, re.MULTILINE))
    assert rooms == _rooms() - {"version"}
    for name in re.findall(r"^(\w+)/ ", tree.text, re.MULTILINE):
        assert (ROOT / name).is_dir(), name


def test_nothing_that_is_kept_leads_to_a_place_of_somebodys_machine():
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    kept = subprocess.run(["git", "ls-files", "-s"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [line.partition("\t")[2] for line in kept.splitlines() if line.startswith("120000")] == []


def test_every_make_target_that_is_named_exists_and_every_target_is_named():
    targets = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {name for page in WRITTEN for name in re.findall(r"\bmake ([a-z]+)", page.read_text("utf-8")) if name in targets}
    commands = re.findall(r"^(?:\| )?`?make ([a-z]+)`?", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE)
    assert set(commands) <= targets
    assert {"up", "test", "check", "bench", "chaos"} <= named


def test_make_up_takes_port_host_and_data_and_nothing_from_the_environment():
    def planned(*words, **environ):
        command = ["make", "-n", "-o", "install", "-o", "web", "up", *words]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"MAKEFLAGS": ""} | environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return [shlex.split(line)[1:] for line in done.stdout.splitlines() if "/towpath " in line]

    assert planned("PORT=8851", "HOST=0.0.0.0", "DATA=my data") == [
        ["up", "--port", "8851", "--host", "0.0.0.0", "--data", "my data"]
    ]
    assert planned(HOST="laptop", PORT="80") == [["up"]]


def test_the_first_screen_of_the_readme_has_two_commands():
    first = blocks(ROOT / "README.md", "sh")[0]
    assert [line.split("#")[0].strip() for line in first.text.splitlines()] == ["make up", "make test"]
    assert first.line < 20
    assert len(blocks(ROOT / "README.md", "sh")) == 1


def test_the_order_of_rooms_in_contributing_is_the_one_that_is_enforced():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["id"] == "rooms"]
    enforced = [name for layer in layers for name in re.findall(r"\w+", layer) if name in _rooms() - {"version"}]
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    sentence = text[text.index("A room imports") : text.index("`make check` enforces it")]
    assert re.findall(r"`(\w+)`", sentence) == enforced


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == towpath.__version__


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_every_link_leads_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(#[\w-]+)?\)", page.read_text("utf-8")):
        goal = (page.parent / target).resolve() if target else page
        assert goal.exists(), f"{name_of(page)} links to {target}"
        if anchor:
            assert anchor[1:] in _anchors(goal), f"{name_of(page)} links to {target}{anchor}"


def _anchors(page):
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_reached_from_the_index():
    index = (DOCS / "README.md").read_text("utf-8")
    loose = [
        name_of(page)
        for page in DOCS.rglob("*.md")
        if page.name != "README.md" and "decisions" not in page.parts and str(page.relative_to(DOCS)) not in index
    ]
    assert loose == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_examples_that_cannot_run_here_are_at_least_python(page):
    """`py` marks the few that need something the lock does not hold."""
    for block in blocks(page, "py"):
        ast.parse(block.text)


def test_what_make_runs_keeps_what_it_compiled_also_where_the_machine_forbids_it():
    told = ["--eval", "told: ; @echo told:$$PYTHONDONTWRITEBYTECODE", "told"]
    of_make = {"MAKEFLAGS": "", "MAKELEVEL": "0"}  # under make test, a make in a make would say more
    environ = os.environ | of_make | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(["make", *told], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "told:\n"
