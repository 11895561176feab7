"""A queue of SQS over HTTP: at a real endpoint, and at an independent reading of the protocol."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.services.sqs import SqsServer
from towpath import ConfigurationError, Fatal, Transient
from towpath.brokers import Outgoing
from towpath.brokers.holding import held
from towpath.brokers.sqs import BATCH, BATCH_BYTES, SqsQueue, batches
from towpath.brokers.sqs_client import region_of

_names = (f"queue-{number}" for number in range(10_000))


@pytest.fixture
def moto_env(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    yield
    server.stop()


@pytest.fixture(params=["sqs_env", "moto_env"])
async def queue(request: pytest.FixtureRequest):
    request.getfixturevalue(request.param)
    own = await SqsQueue.create(next(_names), {"VisibilityTimeout": "30"})
    yield own
    own.close()


async def test_what_is_sent_is_received_until_it_is_deleted(queue):
    assert await queue.send(["one", Outgoing("two")]) == []
    got = [one for _ in range(2) for one in await queue.receive(wait_seconds=1)]
    assert sorted(one.body for one in got) == ["one", "two"]
    assert {one.handed_out for one in got} == {1}
    assert (await queue.counts()).in_hand == 2
    assert await queue.delete(got) == []
    counts = await queue.counts()
    assert (counts.waiting, counts.in_hand, counts.delayed) == (0, 0, 0)


async def test_what_is_let_go_comes_again_and_says_so(queue):
    await queue.send(["again"])
    [first] = await queue.receive(wait_seconds=1)
    assert await queue.receive(wait_seconds=0) == []
    assert await queue.extend([first], 0) == []
    [second] = await queue.receive(wait_seconds=2)
    assert (second.id, second.handed_out) == (first.id, 2)


async def test_a_delayed_message_is_not_there_yet(queue):
    await queue.send([Outgoing("later", delay_seconds=900)])
    assert await queue.receive(wait_seconds=0) == []
    assert (await queue.counts()).delayed == 1
    with pytest.raises(ValueError, match="0 to 900 seconds, got 901"):
        await queue.send([Outgoing("too late", delay_seconds=901)])


async def test_more_than_a_request_takes_goes_out_in_several(queue):
    bodies = [f"{number}" for number in range(23)]
    assert await queue.send(bodies) == []
    got = []
    while len(got) < len(bodies):
        got += await queue.receive(wait_seconds=2)
    assert sorted(one.body for one in got) == sorted(bodies)
    assert await queue.delete(got) == []


async def test_a_long_poll_hears_what_is_sent_meanwhile(queue):
    polling = asyncio.create_task(queue.receive(wait_seconds=20))
    await asyncio.sleep(0.1)
    await queue.send(["there"])
    [got] = await polling
    assert got.body == "there"


async def test_a_poll_that_nobody_waits_for_gives_back_what_it_was_handed(queue):
    polling = asyncio.create_task(queue.receive(wait_seconds=20))
    await asyncio.sleep(0.3)  # it has asked
    polling.cancel()
    await queue.send(["not lost"])
    got = []
    for _ in range(20):
        got = await queue.receive(wait_seconds=1)
        if got:
            break
    assert [one.body for one in got] == ["not lost"]


async def test_messages_are_kept_from_others_while_work_runs(sqs_env):
    queue = await SqsQueue.create(next(_names), {"VisibilityTimeout": "1"})
    await queue.send(["long work"])
    got = await queue.receive(wait_seconds=1)
    async with held(queue, got, 1) as lost:
        assert await queue.receive(wait_seconds=3) == []
        assert lost == set()
    [again] = await queue.receive(wait_seconds=5)
    assert again.id == got[0].id
    queue.close()


async def test_a_receipt_that_no_longer_counts_is_told_not_raised(sqs_env):
    queue = await SqsQueue.create(next(_names))
    await queue.send(["gone"])
    got = await queue.receive(wait_seconds=1)
    await queue.delete(got)
    assert await queue.extend(got, 30) == got
    queue.close()


async def test_a_queue_that_is_not_there_is_no_transient_failure(queue):
    with pytest.raises(Fatal, match="exist"):
        await SqsQueue.named("nobody-made-it")
    elsewhere = SqsQueue(queue.url.rsplit("/", 1)[0] + "/nobody-made-it")
    with pytest.raises(Fatal) as caught:
        await elsewhere.counts()
    assert "create the queue" in str(caught.value.remedy)
    assert (await SqsQueue.named(queue.url.rsplit("/", 1)[1])).url == queue.url


async def test_an_endpoint_that_is_gone_is_transient_and_comes_back(monkeypatch):
    with SqsServer() as server:
        for name, value in server.env.items():
            monkeypatch.setenv(name, value)
        queue = await SqsQueue.create("mine", timeout=2)
        server.kill()
        with pytest.raises(Transient, match="could not be reached"):
            await queue.send(["lost"])
        server.start()
        await SqsQueue.create("mine")
        assert await queue.send(["found"]) == []
        queue.close()


async def test_the_address_of_a_queue_says_where_it_is_when_the_environment_does_not(queue, monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.delenv("AWS_REGION", raising=False)
    again = SqsQueue(queue.url)
    assert await again.send(["here"]) == []
    again.close()


@pytest.mark.parametrize(
    ("url", "region"),
    [
        ("https://sqs.eu-west-1.amazonaws.com/1/q", "eu-west-1"),
        ("https://sqs-fips.us-gov-west-1.amazonaws.com/1/q", "us-gov-west-1"),
        ("https://sqs.cn-north-1.amazonaws.com.cn/1/q", "cn-north-1"),
        ("https://vpce-0a-1b.sqs.us-east-2.vpce.amazonaws.com/1/q", "us-east-2"),
        ("https://eu-central-1.queue.amazonaws.com/1/q", "eu-central-1"),
        ("https://sqs.eu-west-1.example.com/1/q", None),
    ],
)
def test_the_address_names_the_region(url, region):
    assert region_of(url) == region


@pytest.mark.parametrize(
    "url", ["", "queue", "https://sqs.eu-west-1.amazonaws.com/queue", "ftp://host/1/q", "https://host/1/q.fifo"]
)
def test_what_is_no_address_of_a_standard_queue_is_refused(url):
    with pytest.raises(ConfigurationError):
        SqsQueue(url)


def test_requests_hold_at_most_ten_messages_and_as_many_bytes_as_sqs_takes():
    assert list(batches([])) == []
    assert list(batches([1] * (BATCH + 1))) == [(0, BATCH), (BATCH, BATCH + 1)]
    half = BATCH_BYTES // 2
    assert list(batches([half, half, 1, half])) == [(0, 2), (2, 4)]
    assert list(batches([BATCH_BYTES * 2, 1])) == [(0, 1), (1, 2)]
