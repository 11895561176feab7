"""towpath limits: who waits for money is told what to say, and saying it lets the work go on."""

from tests.cli.commands import words


def test_a_limit_is_set_listed_and_taken_away(towpath_on_both):
    towpath = towpath_on_both
    towpath.drain()  # the database is there
    assert "no tenant has a limit" in towpath("limits").stdout
    assert "alice may spend 500.00 cents a month" in towpath("limits", "set", "alice", 500).stdout
    towpath("limits", "set", "bob", 20_000, "--ever")
    assert [(one["name"], one["cents"], one["period"], one["spent"]) for one in towpath.json("limits")] == [
        ("alice", 500, "month", 0), ("bob", 20_000, "ever", 0),
    ]  # fmt: skip
    shown = words(towpath("limits").stdout)
    assert "alice 500.00 cents month" in shown
    assert "bob 20,000.00 cents lifetime" in shown
    towpath("limits", "set", "alice", 0)
    towpath("limits", "clear", "bob")
    assert [(one["name"], one["cents"]) for one in towpath.json("limits")] == [("alice", 0)]


def test_less_than_nothing_is_refused(towpath):
    assert "CENTS" in words(towpath("limits", "set", "alice", "--", -1, code=2).stderr)


def test_work_that_waits_for_money_goes_on_when_the_limit_is_raised(towpath):
    towpath.drain()  # the database is there
    towpath("limits", "set", "default", 5)
    job = towpath.enqueue("costly", {"cents": 20})
    towpath.drain()
    assert "towpath limits set default CENTS" in words(towpath("explain", job).stdout)
    towpath("limits", "set", "default", 50)
    towpath.drain()
    assert towpath.json("jobs", "show", job)["state"] == "succeeded"
