"""What adapters share when they are refused."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from towpath import Fatal, RateLimited, SchemaInvalid, Transient
from towpath.providers import Vanished
from towpath.providers.refusals import patience, refusal, seconds, told


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, SchemaInvalid),
        (401, Fatal),
        (402, Fatal),
        (403, Fatal),
        (404, Vanished),
        (408, Transient),
        (409, SchemaInvalid),
        (410, Vanished),
        (413, SchemaInvalid),
        (425, Transient),
        (429, RateLimited),
        (500, Transient),
        (503, Transient),
    ],
)
def test_a_status_has_its_category(status: int, expected: type[Exception]):
    assert type(refusal("X", status, "no")) is expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [("7", 7), ("1.5", 1.5), (None, 30), ("", 30), ("soon", 30), ("-4", 30), ("nan", 30), ("inf", 30)],
)
def test_a_time_to_wait_is_read_and_nonsense_is_the_usual(header: str | None, expected: float):
    assert seconds(header) == expected


def test_a_time_to_wait_may_be_a_date():
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    past = format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)
    assert 50 < seconds(soon) <= 60
    assert seconds(past) == 0


def test_credentials_and_the_keys_of_links_are_not_told():
    said = "no blob at https://x.example/c/a.wav?sv=2024&sig=abc%3D for key my-key; see https://x.example/help"
    shown = told(said, ["my-key", None, ""])
    assert shown == "no blob at https://x.example/c/a.wav?… for key …; see https://x.example/help"
    assert "my-key" not in str(refusal("X", 401, said, secrets=["my-key"]))


async def test_a_call_that_takes_too_long_is_transient():
    with pytest.raises(Transient, match=r"within 0\.01 s"):
        async with patience("X", 0.01):
            await asyncio.Event().wait()
