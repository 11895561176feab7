"""towpath enqueue."""

import pytest

from tests.cli.commands import words

SHOP = ("--app", "tests.cli.shop:app")


def test_a_job_is_enqueued_and_its_id_is_printed(towpath_on_both):
    towpath_on_both("migrate")
    options = ("--queue", "sums", "--tenant", "alice", "--priority", "0", "--key", "k1")
    job_id = towpath_on_both("enqueue", "add", "--payload", '{"a": 1, "b": 2}', *options).stdout.strip()
    job = towpath_on_both.json("jobs", "show", job_id)
    assert (job["operation"], job["queue"], job["tenant"], job["priority"], job["key"]) == ("add", "sums", "alice", 0, "k1")
    assert job["payload"] == {"a": 1, "b": 2}
    assert towpath_on_both("enqueue", "add", *options).stdout.strip() == job_id
    towpath_on_both.drain()
    assert towpath_on_both.json("jobs", "show", job_id)["result"] == 3


def test_a_delayed_job_is_scheduled(towpath):
    towpath("migrate")
    job = towpath.json("enqueue", "add", "--queue", "sums", "--delay", "10m")
    assert job["run_at"] is not None
    assert "it is scheduled for later" in towpath("explain", job["id"]).stdout


def test_the_app_knows_the_queue_and_the_type(towpath):
    on_here = (*SHOP, "--database", towpath.url)
    job = towpath.json("enqueue", "order", "--payload", '{"article": "oar"}', *on_here)
    assert (job["queue"], job["payload"]) == ("orders", {"article": "oar", "pieces": 1})
    assert "pieces:" in towpath("enqueue", "order", "--payload", '{"article": "oar", "pieces": []}', *on_here, code=2).stderr
    assert "this app knows add, break" in towpath("enqueue", "ordr", *on_here, code=2).stderr


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["add"], "name the queue with --queue"),
        (["add", "--queue", "sums", "--payload", "{"], "this is no JSON"),
        (["add", "--queue", "sums", "--payload", '{"a": NaN}'], "$.a: nan has no JSON form"),
        (["add", "--queue", "sums", "--priority", "4"], "--priority"),
        (["add", "--queue", "sums", "--delay", "soon"], "'soon' is no duration"),
        (["add", "--queue", "two words"], "a queue's name must be"),
        (["", "--queue", "sums"], "an operation's name must be"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_enqueued(towpath, args, hint):
    towpath("migrate")
    assert hint in words(towpath("enqueue", *args, code=2).stderr)
    assert towpath.json("jobs", "list") == []
