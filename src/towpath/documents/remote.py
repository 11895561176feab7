"""Steps that a service does: what it is sent, what it answers, and what its refusals mean.

A service is asked by POST and answers 200 with the envelope `{status, error_kind, message, retry_after, meter, output}`.
Whatever else comes is told by its status, as of any service: 429 is RateLimited; 408, 425 and 5xx are Transient, and so is
what is no JSON; 401, 403, 404 and redirects are Fatal, because an address is wrong; other refusals are SchemaInvalid.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from towpath import Fatal, RateLimited, SchemaInvalid, Transient, outcome_from_envelope, plain_text
from towpath.documents.asking import Question, text_and_passages
from towpath.documents.work import Work
from towpath.models.wire import seconds
from towpath.outbound.client import Outbound, Reply

_LONGEST_QUESTION = 64 * 1024 * 1024
_LONGEST_ANSWER = 64 * 1024 * 1024
_LATER = (408, 425)
_WRONG_ADDRESS = (401, 403, 404, 405)


@dataclass(frozen=True, slots=True)
class HttpStep:
    """Bound to its step by whoever adds it to a pipeline, because the service is told which step it is."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cents: float = 0.0
    """What one call costs at the most: so much is held back before it is made."""
    trusted: bool = True
    """Whether it was named in code, and may be on this machine or in its network; addresses that people give may not."""
    question: Question = text_and_passages

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    async def ask(self, work: Work, step: str, needs: Sequence[str]) -> Any:
        """The output that the service answers. What it has used becomes part of the step's record."""
        await work.ctx.budget(self._budget(work))  # another document may have been told to wait
        content = json.dumps(await self._asked(work, step, needs), ensure_ascii=False).encode("utf-8", "replace")
        if len(content) > _LONGEST_QUESTION:
            raise SchemaInvalid(
                f"{len(content) >> 20:,} MB of text are more than a service is sent, {_LONGEST_QUESTION >> 20} MB",
                remedy="leave this step to this machine for such documents",
            )
        sent = dict(self.headers) | {"content-type": "application/json", "idempotency-key": f"{work.ctx.id}:{step}"}
        reply = await self._outbound(work).post(self.url, content, sent, most=_LONGEST_ANSWER)
        envelope = self._envelope(work, reply)
        cents = await _metered(work, envelope.get("meter"))
        output = self._output(work, envelope)
        await work.ctx.spent(self.cents if cents is None else cents, key=step)
        return output

    async def _asked(self, work: Work, step: str, needs: Sequence[str]) -> dict[str, Any]:
        own = {"step": step, "key": f"{work.ctx.id}:{step}", "run_id": work.run.id, "item_id": work.item.id}
        return own | await self.question(work, needs)

    def _outbound(self, work: Work) -> Outbound:
        settings = work.ctx.settings
        private = self.trusted or settings.allow_private_urls
        return Outbound(allow_private=private, timeout=settings.model_timeout_seconds or 3600.0)

    def _budget(self, work: Work) -> str:
        """What a 429 blocks: everybody who asks for the same. Of an address that people gave, only those of their tenant."""
        place = self.host + urlsplit(self.url).path
        return f"step:{place}" if self.trusted else f"step:{work.tenant}:{place}"

    def _envelope(self, work: Work, reply: Reply) -> dict[str, Any]:
        if reply.status != 200:
            raise _refusal(self.host, reply, self._budget(work))
        if len(reply.body) >= _LONGEST_ANSWER:
            raise SchemaInvalid(f"{self.host} answered more than {_LONGEST_ANSWER >> 20} MB")
        try:
            envelope = json.loads(reply.body)
        except ValueError:
            raise Transient(f"{self.host} answered something that is no JSON: {_said(reply.body)}") from None
        if not isinstance(envelope, dict) or not {"status", "error_kind", "output"} & set(envelope):
            raise SchemaInvalid(
                f"{self.host} answered without an envelope: {_said(reply.body)}",
                remedy="a step's service answers {status, error_kind, message, retry_after, meter, output}",
            )
        return envelope

    def _output(self, work: Work, envelope: dict[str, Any]) -> Any:
        told = envelope | {"message": plain_text(str(envelope.get("message") or f"{self.host} reported a failure"), 1000)}
        try:
            return outcome_from_envelope(told).result
        except RateLimited as limit:
            raise RateLimited(str(limit), retry_after=limit.retry_after, budget=self._budget(work)) from None


def http_step(
    url: str, *, headers: Mapping[str, str] | None = None, cents: float = 0.0, question: Question = text_and_passages
) -> HttpStep:
    """A step that the service at this address does, for `add_step`: `add_step(app, "TRANSLATED", http_step("https://…"))`.

    `headers` go with every call, such as a key; `cents` is what a call costs at the most. The service is sent the text page
    by page, the passages if the step needs CHUNKED, and a key that is the same whenever the same is asked again. A
    `question` of your own sends something else.
    """
    return HttpStep(url, dict(headers or {}), cents, question=question)


async def _metered(work: Work, meter: Any) -> float | None:
    """What the service says it has used; answers its price, if that is told."""
    if not isinstance(meter, dict):
        return None
    model = meter.get("model")
    used = {name: _number(meter.get(name)) for name in ("tokens_in", "tokens_out", "cost_cents")}
    await work.ctx.meter(
        model=plain_text(str(model), 200) if model else None,
        tokens_in=None if used["tokens_in"] is None else int(used["tokens_in"]),
        tokens_out=None if used["tokens_out"] is None else int(used["tokens_out"]), cost_cents=used["cost_cents"],
    )  # fmt: skip
    return used["cost_cents"]


def _number(value: Any) -> float | None:
    """Whatever is no amount was not told."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < float("inf") else None


def _refusal(host: str, reply: Reply, budget: str) -> Exception:
    message = f"{host} answered {reply.status}: {_said(reply.body)}"
    if reply.status == 429:
        return RateLimited(message, retry_after=seconds(reply.headers.get("retry-after")), budget=budget)
    if reply.status >= 500 or reply.status in _LATER:
        return Transient(message)
    if reply.status < 400 or reply.status in _WRONG_ADDRESS:
        return Fatal(message, remedy="check the address of the step's service, then retry with it")
    return SchemaInvalid(message, remedy="see what the service says of this document")


def _said(body: bytes) -> str:
    return plain_text(" ".join(body[:800].decode(errors="replace").split()), 200) or "nothing"
