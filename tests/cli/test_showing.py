"""towpath jobs show, and explain."""

from tests.cli.commands import words


def test_a_job_is_shown_with_its_steps_and_events(towpath_on_both):
    job_id = towpath_on_both.enqueue("order", {"article": "oar", "pieces": 3}, tenant="alice", key="k1")
    towpath_on_both.drain()
    shown = words(towpath_on_both("jobs", "show", job_id).stdout)
    for part in ("order succeeded", job_id, "alice", "k1", "weigh step yes", "job.succeeded", '{"grams": 300}', '"oar"'):
        assert part in shown
    value = towpath_on_both.json("jobs", "show", job_id)
    assert value["result"] == {"grams": 300}
    assert value["payload"] == {"article": "oar", "pieces": 3}
    assert [step["name"] for step in value["steps"]] == ["weigh"]
    assert value["steps"][0]["output"] == {"grams": 300}
    assert [event["seq"] for event in value["events"]] == list(range(1, len(value["events"]) + 1))
    assert value["events"][-1]["name"] == "job.succeeded"
    assert value["progress"] == {"current": 1, "total": 2}


def test_a_failed_job_is_shown_with_its_error_and_what_to_do(towpath):
    job_id = towpath.enqueue("break", {"part": 5})
    towpath.drain()
    shown = words(towpath("jobs", "show", job_id).stdout)
    assert "error fatal: part 5 is broken" in shown
    assert "what to do order a new part, then requeue" in shown


def test_a_parent_is_shown_with_its_children_those_that_failed_first(towpath):
    parent = towpath.enqueue("several", {"good": 12, "bad": 1})
    towpath.drain()
    shown = towpath("jobs", "show", parent).stdout
    assert "13: 12 ok, 0 partial, 1 bad, 0 open" in shown
    rows = shown[shown.index("child ") :].splitlines()[1:]
    assert "failed" in rows[0]
    assert "part 17 is broken" in rows[0]


def test_only_the_latest_events_are_shown(towpath):
    job_id = towpath.enqueue("order", {"article": "oar"})
    towpath.drain()
    everything = towpath.json("jobs", "show", job_id, "--events", "1000")["events"]
    assert towpath.json("jobs", "show", job_id, "--events", "2")["events"] == everything[-2:]
    assert towpath.json("jobs", "show", job_id, "--events", "0")["events"] == []


def test_a_payload_that_was_stored_apart_is_shown_as_it_was(towpath):
    job_id = towpath.enqueue("add", {"a": "x" * 100_000, "b": "y"})
    assert towpath.json("jobs", "show", job_id)["payload"]["a"] == "x" * 100_000
    assert "…" in towpath("jobs", "show", job_id).stdout


def test_explain_says_why_a_job_waits_and_what_to_do(towpath_on_both):
    first = towpath_on_both.enqueue("add", {"a": 1, "b": 2})
    second = towpath_on_both.enqueue("add", {"a": 3, "b": 4})
    told = words(towpath_on_both("explain", second).stdout)
    assert "no live worker serves the queue 'sums'" in told
    assert "position 1 before it" in told
    assert "towpath worker --app module:app --queues sums" in told
    assert towpath_on_both.json("explain", first)["position"] == 0
    towpath_on_both("queues", "pause", "sums")
    assert "the queue 'sums' is paused" in towpath_on_both("explain", first).stdout


def test_explain_of_a_failed_job_gives_its_remedy(towpath):
    job_id = towpath.enqueue("break", {})
    towpath.drain()
    told = towpath.json("explain", job_id)
    assert (told["reason"], told["remedy"]) == ("fatal", "order a new part, then requeue")


def test_explain_of_a_job_that_has_ended_says_when_it_did(towpath):
    job_id = towpath.enqueue("break", {})
    towpath.drain()
    told = words(towpath("explain", job_id).stdout)
    assert " ended 2" in told
    assert " until " not in told
