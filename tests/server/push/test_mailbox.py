"""What waits for one stream to be sent."""

import asyncio
import time

from towpath.push.ending import Ending
from towpath.push.mailbox import Mailbox


async def test_what_arrives_in_the_moment_the_patience_ends_is_taken_and_not_left_behind():
    """An empty answer lets the stream tell the client how far everybody is: behind a message it has not been sent."""
    box = Mailbox(1000, Ending("somebody"))
    taking = asyncio.create_task(box.take(0.01))
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_later(0.015, box.put, b"news")
    time.sleep(0.03)  # noqa: ASYNC251  (both are due now, and run in one turn of the loop: first the end, then the news)
    assert await taking == b"news"
