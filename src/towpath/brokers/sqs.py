"""One queue of SQS, or of whatever speaks its protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from towpath.brokers.contract import Message, Outgoing, QueueCounts, Unsent
from towpath.brokers.daemons import in_daemon
from towpath.brokers.sqs_client import SqsClient
from towpath.core.errors import ConfigurationError
from towpath.core.masking import masked

BATCH = 10
"""Messages in one request; SQS takes no more."""
BATCH_BYTES = 256 * 1024
"""All messages of one request together. Newer queues take more; every queue takes this."""
LONGEST_DELAY = 900
LONGEST_POLL = 20
LONGEST_VISIBILITY = 12 * 3600


class SqsQueue:
    """Credentials, region and endpoint are those of AWS's own variables. Calls never block the event loop.

    What goes wrong is Transient (not reached), RateLimited, Fatal (no such queue, or not allowed) or a ConfigurationError.
    """

    def __init__(self, url: str, *, timeout: float = 30.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("https", "http") or not parts.hostname or len(parts.path.strip("/").split("/")) < 2:
            raise ConfigurationError(
                f"{masked(url)!r} is not the address of a queue; they look like https://sqs.REGION.amazonaws.com/ACCOUNT/NAME"
            )
        if url.endswith(".fifo"):
            raise ConfigurationError(f"{masked(url)} is a FIFO queue; use a standard one: order comes from the database")
        self.url = url
        self._client = SqsClient(url, timeout)

    @classmethod
    async def named(cls, name: str, *, timeout: float = 30.0, region: str | None = None) -> SqsQueue:
        """The queue of this name in the account of the environment, and in its region unless another is said."""
        return cls(await _asked_for(timeout, region, "get_queue_url", QueueName=name), timeout=timeout)

    @classmethod
    async def create(
        cls, name: str, attributes: Mapping[str, str] | None = None, *, timeout: float = 30.0, region: str | None = None
    ) -> SqsQueue:
        """A new queue, or the one of this name if it has these attributes."""
        url = await _asked_for(timeout, region, "create_queue", QueueName=name, Attributes=dict(attributes or {}))
        return cls(url, timeout=timeout)

    async def send(self, messages: Iterable[Outgoing | str]) -> list[Unsent]:
        """What was not taken; nothing is there if all were. If it raises, any of them may have been sent."""
        outgoing = [Outgoing(one) if isinstance(one, str) else one for one in messages]
        for one in outgoing:
            if not 0 <= one.delay_seconds <= LONGEST_DELAY:
                raise ValueError(f"SQS delays messages by 0 to {LONGEST_DELAY} seconds, got {one.delay_seconds}")
        unsent: list[Unsent] = []
        for first, last in batches([len(one.body.encode()) for one in outgoing]):
            entries = [
                {"Id": str(at), "MessageBody": outgoing[at].body, "DelaySeconds": outgoing[at].delay_seconds}
                for at in range(first, last)
            ]
            answer = await self._call("send_message_batch", Entries=entries)
            unsent += [_unsent(entry) for entry in answer.get("Failed", ())]
        return unsent

    async def receive(
        self, limit: int = BATCH, *, wait_seconds: int = LONGEST_POLL, visibility_seconds: int | None = None
    ) -> list[Message]:
        """Waits until there is at least one, or `wait_seconds` have passed. Cancelled meanwhile, it gives back what comes
        after all, so that others need not wait for its visibility to end."""
        params: dict[str, Any] = {
            "MaxNumberOfMessages": min(limit, BATCH),
            "WaitTimeSeconds": min(wait_seconds, LONGEST_POLL),
        }
        if visibility_seconds is not None:
            params["VisibilityTimeout"] = min(visibility_seconds, LONGEST_VISIBILITY)
        wanted = ["ApproximateReceiveCount", "SentTimestamp"]
        answer = await in_daemon(
            lambda: self._client.call(
                "receive_message",
                QueueUrl=self.url,
                MessageSystemAttributeNames=wanted,
                **params,
            ),
            self._give_back,
        )
        return [_message(one) for one in answer.get("Messages", ())]

    async def extend(self, messages: Iterable[Message], seconds: float) -> list[Message]:
        """Keeps them from others for so long from now; zero hands them out again. What is returned was no longer ours."""
        entry = {"VisibilityTimeout": max(0, min(round(seconds), LONGEST_VISIBILITY))}
        return await self._each("change_message_visibility_batch", list(messages), entry)

    async def delete(self, messages: Iterable[Message]) -> list[Message]:
        """They do not come again. What is returned was no longer ours, and may."""
        return await self._each("delete_message_batch", list(messages), {})

    async def counts(self) -> QueueCounts:
        prefix = "ApproximateNumberOfMessages"
        found = await self.attributes(prefix, f"{prefix}NotVisible", f"{prefix}Delayed")
        return QueueCounts(
            int(found.get(prefix, 0)), int(found.get(f"{prefix}NotVisible", 0)), int(found.get(f"{prefix}Delayed", 0))
        )

    async def attributes(self, *names: str) -> dict[str, str]:
        """All of them if none is named. It is also how to find out whether there is such a queue."""
        answer = await self._call("get_queue_attributes", AttributeNames=list(names) or ["All"])
        return dict(answer.get("Attributes", {}))

    async def purge(self) -> None:
        """Throws away what waits. SQS does so once a minute at most."""
        await self._call("purge_queue")

    async def remove(self) -> None:
        """Deletes the queue itself, with what is in it."""
        await self._call("delete_queue")

    def close(self) -> None:
        self._client.close()

    async def _call(self, method: str, **params: Any) -> Any:
        return await in_daemon(lambda: self._client.call(method, QueueUrl=self.url, **params))

    async def _each(self, method: str, messages: Sequence[Message], entry: dict[str, Any]) -> list[Message]:
        lost: list[Message] = []
        for at in range(0, len(messages), BATCH):
            some = messages[at : at + BATCH]
            entries = [{"Id": str(place), "ReceiptHandle": one.receipt, **entry} for place, one in enumerate(some)]
            answer = await self._call(method, Entries=entries)
            lost += [some[int(failed["Id"])] for failed in answer.get("Failed", ())]
        return lost

    def _give_back(self, answer: Any) -> None:
        """In a thread of its own. Nothing depends on it: they come again when their visibility ends."""
        from contextlib import suppress

        from towpath.core.errors import TowpathError

        entries = [
            {"Id": str(at), "ReceiptHandle": one["ReceiptHandle"], "VisibilityTimeout": 0}
            for at, one in enumerate(answer.get("Messages", ()))
        ]
        if entries:
            with suppress(TowpathError):
                self._client.call("change_message_visibility_batch", QueueUrl=self.url, Entries=entries)


def batches(sizes: Sequence[int]) -> Iterable[tuple[int, int]]:
    """How to cut messages of these sizes into requests. One that is too large for any is left to SQS to refuse."""
    first, size = 0, 0
    for at, one in enumerate(sizes):
        if at > first and (at - first == BATCH or size + one > BATCH_BYTES):
            yield first, at
            first, size = at, 0
        size += one
    if sizes:
        yield first, len(sizes)


async def _asked_for(timeout: float, region: str | None, method: str, **params: Any) -> str:
    client = SqsClient(None, timeout, region)
    try:
        answer = await in_daemon(lambda: client.call(method, **params))
    finally:
        client.close()
    return str(answer["QueueUrl"])


def _unsent(entry: Mapping[str, Any]) -> Unsent:
    reason = f"{entry.get('Code', 'refused')}: {entry.get('Message', '')}".removesuffix(": ")
    return Unsent(int(entry["Id"]), reason, again=not entry.get("SenderFault", False))


def _message(one: Mapping[str, Any]) -> Message:
    told = one.get("Attributes", {})
    return Message(
        id=str(one["MessageId"]),
        body=str(one["Body"]),
        receipt=str(one["ReceiptHandle"]),
        handed_out=int(told.get("ApproximateReceiveCount", 1)),
        sent_at=int(told.get("SentTimestamp", 0)) / 1000,
    )
