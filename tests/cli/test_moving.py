"""towpath jobs cancel, retry and delete."""

import json

NOBODY = "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60"


def _state(towpath, job_id):
    return towpath.json("jobs", "show", job_id)["state"]


def test_several_jobs_are_cancelled_with_a_reason(towpath_on_both):
    ids = [towpath_on_both.enqueue("add", {"a": n, "b": 1}) for n in range(2)]
    output = towpath_on_both("jobs", "cancel", *ids, "--reason", "not needed any more").stdout
    assert output.splitlines() == [f"{job_id} cancelled" for job_id in ids]
    shown = towpath_on_both.json("jobs", "show", ids[0])
    assert shown["state"] == "cancelled"
    assert "not needed any more" in json.dumps(shown["events"])


def test_what_cannot_be_cancelled_is_told_and_the_rest_is_done(towpath):
    done = towpath.enqueue("add", {"a": 1, "b": 1})
    towpath.drain()
    open_ = towpath.enqueue("add", {"a": 2, "b": 1})
    result = towpath("jobs", "cancel", done, NOBODY, open_, code=2)
    assert f"error: job {done} had ended already" in result.stderr
    assert f"error: no job has the id {NOBODY}" in result.stderr
    assert result.stdout.splitlines() == [f"{open_} cancelled"]
    assert _state(towpath, open_) == "cancelled"


def test_a_failed_job_is_retried(towpath_on_both):
    job_id = towpath_on_both.enqueue("flaky", {})
    towpath_on_both.drain()
    assert _state(towpath_on_both, job_id) == "failed"
    towpath_on_both("jobs", "retry", job_id)
    assert _state(towpath_on_both, job_id) == "queued"


def test_a_job_that_is_still_live_cannot_be_retried(towpath):
    job_id = towpath.enqueue("flaky", {})
    assert f"job {job_id} was not requeued" in towpath("jobs", "retry", job_id, code=2).stderr


def _failed_order(towpath):
    """An order whose payload no longer fits: it was enqueued by somebody who did not know the type."""
    towpath("migrate")
    job_id = towpath("enqueue", "order", "--queue", "orders", "--payload", '{"pieces": "many"}').stdout.strip()
    towpath.drain()
    assert _state(towpath, job_id) == "failed"
    return job_id


def test_a_job_is_retried_with_an_edited_payload(towpath):
    job_id = _failed_order(towpath)
    towpath("jobs", "retry", job_id, "--payload", '{"article": "oar", "pieces": 2}')
    towpath.drain()
    assert towpath.json("jobs", "show", job_id)["result"] == {"grams": 200}


def test_an_edited_payload_may_come_from_a_file_or_from_standard_input(towpath, tmp_path):
    job_id = _failed_order(towpath)
    (tmp_path / "order.json").write_text('{"article": "oar", "pieces": 7}')
    towpath("jobs", "retry", job_id, "--payload", "@order.json")
    assert towpath.json("jobs", "show", job_id)["payload"]["pieces"] == 7
    towpath("jobs", "cancel", job_id)
    towpath("jobs", "retry", job_id, "--payload", "-", stdin='{"article": "oar", "pieces": 8}')
    assert towpath.json("jobs", "show", job_id)["payload"]["pieces"] == 8


def test_with_the_app_an_edited_payload_is_checked_against_its_type(towpath):
    job_id = _failed_order(towpath)
    bad = ("jobs", "retry", job_id, "--payload", '{"article": "oar", "pieces": "few"}')
    assert "pieces:" in towpath(*bad, "--app", "tests.cli.shop:app", "--database", towpath.url, code=2).stderr
    assert _state(towpath, job_id) == "failed"
    towpath(*bad)
    assert _state(towpath, job_id) == "queued"


def test_a_payload_that_is_no_json_is_refused_before_anything_is_opened(towpath):
    assert "this is no JSON" in towpath("jobs", "retry", NOBODY, "--payload", "{pieces: 2}", code=2).stderr
    assert "cannot read nowhere.json" in towpath("jobs", "retry", NOBODY, "--payload", "@nowhere.json", code=2).stderr
    assert "null cannot replace" in towpath("jobs", "retry", NOBODY, "--payload", "null", code=2).stderr


def test_recorded_steps_are_dropped_with_a_new_payload_unless_they_are_kept(towpath):
    job_id = towpath.enqueue("wait", {"timeout": 3600})
    towpath.drain()
    towpath("jobs", "cancel", job_id)
    steps = towpath.json("jobs", "show", job_id)["steps"]
    assert steps
    towpath("jobs", "retry", job_id, "--payload", '{"timeout": 1}', "--keep-steps")
    assert towpath.json("jobs", "show", job_id)["steps"] == steps
    towpath("jobs", "cancel", job_id)
    towpath("jobs", "retry", job_id, "--payload", '{"timeout": 1}')
    assert towpath.json("jobs", "show", job_id)["steps"] == []


def test_an_ended_tree_is_deleted_as_a_whole(towpath_on_both):
    parent = towpath_on_both.enqueue("several", {"good": 2})
    towpath_on_both.drain()
    child = towpath_on_both.json("jobs", "list", "--parent", parent)[0]["id"]
    assert f"{child} is a child of {parent}" in towpath_on_both("jobs", "delete", child, code=2).stderr
    assert towpath_on_both("jobs", "delete", parent).stdout == f"{parent} deleted, 3 jobs in all\n"
    assert towpath_on_both.json("jobs", "list") == []


def test_a_live_job_is_not_deleted(towpath):
    job_id = towpath.enqueue("add", {"a": 1, "b": 1})
    assert "cancel it first" in towpath("jobs", "delete", job_id, code=2).stderr
    assert _state(towpath, job_id) == "queued"
