"""The room of questions keeps its promise: nothing in it changes anything."""

import ast
from pathlib import Path

from towpath.engine import asking
from towpath.store.contract import Store, Tx

_READS = {"read", "follow", "open", "close", "bell", "dialect", "queries", "fetch", "fetch_sql", "jobs", "now"}
_WRITES = {name for kind in (Store, Tx) for name in vars(kind) if not name.startswith("_")} - _READS


def _called(tree: ast.Module) -> set[str]:
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {call.attr for call in calls if isinstance(call, ast.Attribute)}


def test_nothing_in_asking_calls_what_writes():
    assert {"run", "execute", "execute_sql", "insert_jobs", "write_jobs", "enqueue", "settle"} <= _WRITES
    modules = sorted(Path(asking.__path__[0]).rglob("*.py"))
    assert len(modules) > 20
    found = {module.name: calls for module in modules if (calls := _called(ast.parse(module.read_text())) & _WRITES)}
    assert found == {}
