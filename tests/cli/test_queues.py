"""towpath queues, lanes, workers and schedules."""

import asyncio
from functools import partial

import pytest

from tests.cli.commands import words
from towpath.core.records import WorkerRow
from towpath.testing import drain


def test_jobs_are_counted_in_their_queue_before_any_worker_has_come(towpath_on_both):
    towpath_on_both.enqueue("add", {"a": 1, "b": 2})
    towpath_on_both.enqueue("add", {"a": 1, "b": 2})
    [view] = towpath_on_both.json("queues")
    assert (view["name"], view["queued"], view["running"], view["workers"]) == ("sums", 2, 0, 0)
    assert "no live worker" in towpath_on_both("queues").stdout
    towpath_on_both.drain()
    assert [view["queued"] for view in towpath_on_both.json("queues") if view["name"] == "sums"] == [0]


def test_a_paused_queue_holds_its_jobs_until_it_is_resumed(towpath_on_both):
    job_id = towpath_on_both.enqueue("add", {"a": 1, "b": 2})
    towpath_on_both("queues", "pause", "sums")
    assert "paused" in towpath_on_both("queues").stdout
    towpath_on_both.drain()
    assert towpath_on_both.json("jobs", "show", job_id)["state"] == "queued"
    towpath_on_both("queues", "resume", "sums")
    towpath_on_both.drain()
    assert towpath_on_both.json("jobs", "show", job_id)["state"] == "succeeded"


def test_a_queue_is_capped_and_the_cap_is_lifted(towpath_on_both):
    towpath_on_both("migrate")
    towpath_on_both("queues", "cap", "gpu", "2", "--new")
    assert [(view["name"], view["max_slots"]) for view in towpath_on_both.json("queues")] == [("gpu", 2)]
    towpath_on_both("queues", "cap", "gpu", "none")
    assert [view["max_slots"] for view in towpath_on_both.json("queues")] == [None]


def test_a_cap_that_is_no_number_is_refused(towpath):
    for text in ("two", "1.5", "-1"):
        towpath("queues", "cap", "gpu", text, code=2)


def test_a_queue_with_an_impossible_name_is_refused(towpath):
    towpath("migrate")
    assert "a queue's name must be" in towpath("queues", "pause", "my queue", code=2).stderr


@pytest.mark.parametrize(
    "words",
    [
        ["queues", "pause", "imagse"],
        ["queues", "resume", "imagse"],
        ["queues", "cap", "imagse", "2"],
        ["queues", "lane", "imagse", "alice"],
        ["queues", "lanes", "imagse"],
        ["queues", "show", "imagse"],
        ["prune", "--older-than", "1d", "--queue", "imagse"],
    ],
    ids=" ".join,
)
def test_a_queue_that_nobody_knows_is_refused_and_nothing_is_made_of_it(towpath, words):
    towpath("migrate")
    towpath("queues", "pause", "images", "--new")
    refused = towpath(*words, code=2).stderr
    assert "no queue is named 'imagse'" in refused
    assert "did you mean 'images'?" in refused
    assert [view["name"] for view in towpath.json("queues")] == ["images"]


def test_one_queue_is_shown_by_itself(towpath_on_both):
    towpath_on_both.enqueue("add", {"a": 1, "b": 2})
    towpath_on_both.enqueue("add", {"a": 1, "b": 2}, queue="other")
    view = towpath_on_both.json("queues", "show", "sums")
    assert (view["name"], view["queued"], view["running"]) == ("sums", 1, 0)
    shown = towpath_on_both("queues", "show", "sums").stdout
    assert "sums" in shown
    assert "other" not in shown


def test_lanes_get_weights_and_caps(towpath_on_both):
    towpath_on_both("migrate")
    towpath_on_both("queues", "pause", "images", "--new")
    assert "every lane of images has weight 1" in towpath_on_both("queues", "lanes", "images").stdout
    towpath_on_both("queues", "lane", "images", "alice", "--weight", "3")
    towpath_on_both("queues", "lane", "images", "bob", "--slots", "2")
    towpath_on_both("queues", "lane", "images", "carol", "--roots", "1")
    lanes = {lane["lane"]: lane for lane in towpath_on_both.json("queues", "lanes", "images")}
    assert (lanes["alice"]["weight"], lanes["bob"]["max_slots"], lanes["carol"]["max_roots"]) == (3, 2, 1)
    shown = words(towpath_on_both("queues", "lanes", "images").stdout)
    assert "bob 1 at most 2 running" in shown
    assert "carol 1 at most 1 open" in shown


def test_a_lane_caps_its_slots_or_its_roots_but_not_both(towpath):
    towpath("migrate")
    lane = ["queues", "lane", "q", "bob", "--new"]
    assert "not both" in towpath(*lane, "--slots", "1", "--roots", "1", code=2).stderr
    assert "weight" in towpath(*lane, "--weight", "0", code=2).stderr


def test_workers_are_listed_with_what_they_serve(towpath_on_both):
    towpath_on_both("migrate")
    assert "no worker has been here" in towpath_on_both("workers").stdout

    async def look(app):
        worker = app.worker(["sums", "orders"], 3, name="w1")
        return await worker.run_until_idle()

    towpath_on_both.with_app(look)
    [row] = towpath_on_both.json("workers")
    assert (row["name"], row["queues"], row["concurrency"], row["state"]) == ("w1", ["orders", "sums"], 3, "stopped")
    assert "w1 stopped orders, sums 0 of 3" in words(towpath_on_both("workers").stdout)


def test_a_worker_that_was_killed_is_silent_when_its_leases_have_run_out(towpath_on_both):
    async def beat(app, lease):
        heart = app.services.store.heart()
        await asyncio.to_thread(heart.beat, WorkerRow("w", "w1", ["sums"], concurrency=3), [], lease)
        await asyncio.to_thread(heart.close)

    towpath_on_both.with_app(partial(beat, lease=30.0))
    assert towpath_on_both.json("workers")[0]["state"] == "alive"
    towpath_on_both.with_app(partial(beat, lease=0.0))
    assert towpath_on_both.json("workers")[0]["state"] == "silent"


def _nightly(towpath):
    async def work(app):
        app.schedule("nightly", "0 3 * * *", "add", {"a": 1, "b": 2}, tenant="alice")
        await app.close()
        await app.open()
        await drain(app)

    towpath.with_app(work)


def test_schedules_are_listed_paused_and_resumed(towpath_on_both):
    towpath_on_both("migrate")
    assert "nothing is scheduled" in towpath_on_both("schedules").stdout
    _nightly(towpath_on_both)
    shown = words(towpath_on_both("schedules").stdout)
    assert "nightly 0 3 * * * UTC add alice retired" in shown
    towpath_on_both("schedules", "pause", "nightly")
    [row] = towpath_on_both.json("schedules")
    assert (row["paused"], row["payload"], row["last_fire"]) == (True, {"a": 1, "b": 2}, None)
    towpath_on_both("schedules", "resume", "nightly")
    assert towpath_on_both.json("schedules")[0]["paused"] is False


def test_a_schedule_that_does_not_exist_is_named(towpath):
    towpath("migrate")
    assert "no schedule is named 'weekly'" in towpath("schedules", "pause", "weekly", code=2).stderr


def test_a_schedule_is_made_by_hand_and_removed(towpath_on_both):
    towpath_on_both("migrate")
    made = towpath_on_both(
        "schedules", "add", "mondays", "0 8 * * 1", "add", "--queue", "sums", "--payload", '{"a": 1, "b": 2}',
        "--tenant", "alice", "--timezone", "Europe/Berlin",
    )  # fmt: skip
    assert "mondays enqueues add at" in made.stdout
    [row] = towpath_on_both.json("schedules")
    assert (row["name"], row["cron"], row["timezone"], row["tenant"]) == ("mondays", "0 8 * * 1", "Europe/Berlin", "alice")
    assert (row["origin"], row["retired"], row["payload"]) == ("people", False, {"a": 1, "b": 2})
    towpath_on_both("schedules", "pause", "mondays")
    assert "paused" in towpath_on_both("schedules").stdout
    again = ["schedules", "add", "mondays", "0 8 * * 1", "add", "--queue", "sums"]
    assert "there is a schedule 'mondays' already" in towpath_on_both(*again, code=2).stderr
    towpath_on_both("schedules", "remove", "mondays")
    assert towpath_on_both.json("schedules") == []


def test_a_schedule_made_by_hand_needs_a_queue_and_a_time(towpath):
    towpath("migrate")
    assert "--queue" in towpath("schedules", "add", "mondays", "0 8 * * 1", "add", code=2).stderr
    refused = towpath("schedules", "add", "mondays", "every monday", "add", "--queue", "sums", code=2).stderr
    assert "five fields" in refused
    assert "no schedule is named 'sundays'" in towpath("schedules", "remove", "sundays", code=2).stderr
