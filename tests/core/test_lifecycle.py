"""The table is complete and consistent with everything that is derived from it."""

import ast
import re
from pathlib import Path

import towpath
from towpath.core import transitions
from towpath.core.lifecycle import ENDING_EVENT, LIVE, STATE_AFTER, TABLE, TERMINAL, State, allowed, markdown_table, mermaid
from towpath.core.verbs import _VERBS


def test_every_verb_can_be_performed_except_those_that_bring_a_job_in_or_ride_on_another_verb():
    # enqueue and claim are statements of the stores; reopen happens to a parent when its child is requeued.
    assert set(TABLE) - set(_VERBS) == {"enqueue", "claim", "reopen"}


def test_everything_that_can_be_performed_is_in_the_table_except_the_workers_word_that_a_handler_is_gone():
    assert set(_VERBS) - set(TABLE) == {"handler_ended"}


def test_a_jobs_state_is_changed_by_the_verbs_and_by_the_two_statements_of_the_hot_path_alone():
    package = Path(towpath.__file__).parent
    assigned = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "state" and isinstance(node.ctx, ast.Store)
    }
    # history.py folds events into a row of its own kind, which nobody writes.
    assert assigned == {"core/history.py", "core/verbs.py", "core/endings.py", "core/requeueing.py", "core/working_set.py"}
    updated = {
        str(path.relative_to(package))
        for path in package.rglob("*.sql")
        if re.search(r"UPDATE towpath[._]job\b[^;]*?\bSET\b((?!\bWHERE\b)[^;])*?\bstate = ", path.read_text("utf-8"))
    }
    assert updated == {"store/postgres/sql/turn.sql", "store/sqlite/procedures.sql"}


def test_every_verb_that_callers_can_ask_for_has_a_named_constructor():
    asked_for = set(TABLE) - {"enqueue", "claim", "reopen"}
    assert {name for name in asked_for if not callable(getattr(transitions, name, None))} == set()


def test_a_job_is_either_live_or_ended_and_never_both():
    assert set(State) == LIVE | TERMINAL
    assert not LIVE & TERMINAL


def test_every_event_in_the_table_says_what_state_it_leads_to():
    silent = {verb.name for verb in TABLE.values() if verb.event not in STATE_AFTER}
    assert silent == {"poll"}  # waiting stays waiting
    for verb in TABLE.values():
        if verb.name != "poll":
            assert STATE_AFTER[verb.event] in verb.targets, verb.name


def test_every_state_can_be_reached_and_every_live_state_can_be_left():
    assert {state for verb in TABLE.values() for state in verb.targets} == set(State)
    for state in LIVE:
        assert any(state in verb.sources and verb.targets != (state,) for verb in TABLE.values()), state


def test_every_ending_has_its_own_event():
    assert set(ENDING_EVENT) == TERMINAL
    assert {STATE_AFTER[event] for event in ENDING_EVENT.values()} == TERMINAL


def test_an_ended_job_is_only_ever_moved_by_requeue_and_reopen():
    movers = {verb.name for verb in TABLE.values() if verb.sources & TERMINAL}
    assert movers == {"requeue", "reopen"}
    assert not allowed("requeue", State.SUCCEEDED)


def test_every_verb_that_a_running_handler_asks_for_is_fenced():
    from_a_handler = {"succeed", "finish_partial", "fail", "defer", "retry", "retry_later", "release"}
    assert all(TABLE[name].fenced for name in from_a_handler)


def test_the_diagram_shows_every_edge_of_the_table():
    drawn = mermaid()
    for verb in TABLE.values():
        for source in verb.sources:
            for target in verb.targets:
                [line] = [line for line in drawn.splitlines() if line.strip().startswith(f"{source} --> {target}:")]
                assert verb.name in line
    for state in TERMINAL:
        assert f"    {state} --> [*]" in drawn


def test_the_markdown_table_has_a_line_for_every_verb():
    lines = markdown_table().splitlines()
    assert len(lines) == len(TABLE) + 2
    assert any(line.startswith("| `defer` | running | waiting, queued | `job.waiting` | yes |") for line in lines)
