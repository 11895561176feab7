"""Products stand on what anybody's own slice has: nothing reaches behind it because it is part of this package."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

PACKAGE = ROOT / "src/towpath"
BELOW = {
    "store": "the engine's own tables",
    "choices": "what products stand on: they ask it for settings, and it reads the installation's tables itself",
    "identity": "what the server's entrance stands on; products ask it who somebody is",
    "server.dismissals": "a part of the server: it keeps which groups of its inbox nobody wants to see",
    "server.webhooks": "a part of the server: it reads the stream of events itself",
}
"""Packages with tables that are no products, and why."""
_INSIDE = frozenset({"services", "claimed", "_services", "_tx", "_job"})


def _packages_with_tables() -> set[str]:
    return {
        ".".join(path.relative_to(PACKAGE).parent.parts)
        for path in PACKAGE.rglob("*.py")
        if "Slice(" in (text := path.read_text("utf-8")) and _makes_a_slice(ast.parse(text))
    }


def _makes_a_slice(tree: ast.AST) -> bool:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return any(getattr(call, "id", None) == "Slice" or getattr(call, "attr", None) == "Slice" for call in calls)


PRODUCTS = sorted(_packages_with_tables() - BELOW.keys())


def reached_inside(source: str) -> list[str]:
    """What of an app or a context is had that is not offered. `values` is there to be called, as every dict has it."""
    tree = ast.parse(source)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return [
        f"line {node.lineno}: .{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and (node.attr in _INSIDE or (node.attr == "values" and id(node) not in called))
    ]


def test_every_package_with_tables_is_a_product_or_says_why_not():
    assert BELOW.keys() <= _packages_with_tables()
    assert {"assets", "batches", "recordings"} <= set(PRODUCTS)


def test_the_import_rule_holds_for_every_product():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    [floor] = [contract for contract in contracts if contract["id"] == "public-floor"]
    assert set(floor["source_modules"]) == {f"towpath.{name}" for name in PRODUCTS}


def test_the_architecture_page_says_which_rooms_products_stand_on():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    [rooms] = [contract for contract in contracts if contract["id"] == "rooms"]
    [floor] = [contract for contract in contracts if contract["id"] == "public-floor"]
    names = [re.findall(r"\w+", layer) for layer in rooms["layers"]]
    below = {
        name for layer in names[next(at for at, layer in enumerate(names) if "recordings" in layer) + 1 :] for name in layer
    }
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    [said] = re.findall(r"import the public names of `towpath`, and of (.+?), each where", page, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", said)) == below - {
        name.removeprefix("towpath.") for name in floor["forbidden_modules"]
    }


def _files() -> list[Path]:
    return [path for name in PRODUCTS for path in sorted((PACKAGE / name.replace(".", "/")).rglob("*.py"))]


# Rooms without tables that stand on the same floor.
_OTHERS = [path for room in ("knowledge", "openai_api") for path in sorted((PACKAGE / room).rglob("*.py"))]


@pytest.mark.parametrize("path", [*_files(), *_OTHERS], ids=lambda path: str(path.relative_to(PACKAGE)))
def test_products_reach_into_nothing_behind_the_public_names(path):
    """Imports are held by a rule of their own; this is about what could be had of an app or a context."""
    assert reached_inside(path.read_text("utf-8")) == []


def test_reaching_inside_is_noticed():
    assert reached_inside("await app.services.store.read(unit)") == ["line 1: .services"]
    assert reached_inside("await ctx.values.fetch(text)") == ["line 1: .values"]
    assert reached_inside("fetch = ctx.values") == ["line 1: .values"]
    assert reached_inside("worker.claimed") == ["line 1: .claimed"]
    assert reached_inside("list(found.values())") == []


_PLACES = frozenset({"app", "ctx", "tx", "source", "place"})
"""What an app, a context or a transaction is called in products."""


def _used(source: str) -> set[str]:
    """Names that a product imports from the public floor, and what it asks of an app, a context or a transaction."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module == "towpath" or (node.module or "").startswith("towpath.http")):
            found |= {name.name for name in node.names}
        if isinstance(node, ast.Attribute):
            owner = node.value
            name = getattr(owner, "id", None) if getattr(owner, "attr", None) != "_app" else "app"
            found |= {node.attr} if name in _PLACES else set()
    return found


def _described() -> str:
    """The page about slices, and those it names."""
    page = ROOT / "docs/how-to/write-a-slice.md"
    linked = re.findall(r"\]\(([^)#\s]+\.md)", page.read_text("utf-8"))
    return "\n".join(path.read_text("utf-8") for path in [page, *((page.parent / target) for target in linked)])


def test_products_use_nothing_that_the_page_about_slices_does_not_describe():
    used = set().union(*(_used(path.read_text("utf-8")) for path in _files()))
    assert {"transact", "tell", "Router", "moment"} <= used
    text = _described()
    assert sorted(name for name in used if not re.search(rf"\b{re.escape(name)}\b", text)) == []
