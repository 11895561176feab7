"""The operation that answers a question: find passages, ask a chat model about them, keep what they bear out.

What was found and what was answered are steps: after a crash or a rate limit nothing is paid twice, and the answer is about
the passages that the model has seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from towpath import App, Context, Fatal, Price, choices, search
from towpath.knowledge import prompt
from towpath.knowledge.holding import Held, judged
from towpath.knowledge.scope import Scope
from towpath.knowledge.seconds import second_of
from towpath.knowledge.shaping import passage_shape
from towpath.models import chat

MOST = 10
"""Passages that a model is given: about three pages."""
MOST_OF_ONE = 20
"""If one thing only is asked about, more of it is looked at."""
NOTHING_FOUND = "nothing was found that the question could be answered from"
NOT_ANSWERED = "the passages that were found do not answer the question"
NOTHING_HOLDS = "nothing of what the model wrote is borne out by the passages that it cites"
_ANSWER_TOKENS = 500
_CHARACTERS = 4  # of a token, about


@dataclass(slots=True)
class Asked:
    """The payload of knowledge.ask."""

    question: str
    run: str | None = None
    type: str | None = None
    entity: str | None = None
    kind: str | None = None
    document_id: str | None = None
    recording_id: str | None = None

    @property
    def scope(self) -> Scope:
        return Scope(self.run, self.type, self.entity, self.kind, self.document_id, self.recording_id)


def no_chat() -> Fatal:
    return Fatal(
        "questions are answered by a chat service, and none is configured",
        remedy="choose one in Settings → Models, or set TOWPATH_CHAT_URL and TOWPATH_CHAT_MODEL here and where the workers "
        "run; searching needs none",
    )


class Asking:
    """The operation, bound to its app."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def run(self, ctx: Context, asked: Asked) -> dict[str, Any]:
        client = chat.client_for(await choices.settings_in(ctx))
        if client is None:
            raise no_chat()
        await ctx.progress(0, 2, "looking for passages")
        found = await ctx.step("find", self._find, ctx, asked)
        if not found:
            return _answer(found, note=NOTHING_FOUND)
        text = prompt.question(asked.question, [(one["title"], one["text"]) for one in found])
        price = (await self._app.prices.get()).get(client.model)
        if price is not None:
            await ctx.spend(_most(price, text))
        await ctx.progress(1, 2, f"{client.model} reads {len(found)} passages")
        reply = await ctx.step("ask", self._ask, ctx, client, text)
        cost = _cost(price, reply)
        if price is not None:
            await ctx.spent(_most(price, text) if cost is None else cost)
        await ctx.progress(2, 2)
        return _answer(found, reply, cost)

    async def _find(self, ctx: Context, asked: Asked) -> list[dict[str, Any]]:
        most = MOST if asked.scope.source is None else MOST_OF_ONE
        found = await search.find(self._app, ctx.tenant, asked.question, filter=asked.scope.filter(), limit=most)
        return [passage_shape(hit.passage).model_dump() | {"moments": hit.passage.moments} for hit in found.hits]

    async def _ask(self, ctx: Context, client: chat.Chat, text: str) -> dict[str, Any]:
        await ctx.budget(client.budget)  # another job may have been told to wait
        reply = await client.ask(prompt.INSTRUCTIONS, text)
        await ctx.meter(model=reply.model, tokens_in=reply.tokens_in, tokens_out=reply.tokens_out)
        return {
            "text": reply.text, "model": reply.model, "tokens_in": reply.tokens_in, "tokens_out": reply.tokens_out,
        }  # fmt: skip


def _answer(
    found: list[dict[str, Any]], reply: dict[str, Any] | None = None, cost: float | None = None, note: str | None = None
) -> dict[str, Any]:
    """The job's result."""
    known = judged(reply["text"] if reply else "", [one["text"] for one in found])
    held = [_sentence(one, found) for one in known.held]
    cited = {id for one in held for id in one["passages"]}
    if not held and note is None:
        note = NOTHING_HOLDS if known.dropped else NOT_ANSWERED
    used = reply or {"model": None, "tokens_in": None, "tokens_out": None}
    return {
        "sentences": held, "passages": [_passage(one) | {"cited": one["passage_id"] in cited} for one in found],
        "left_out": [{"text": one.text, "why": one.why} for one in known.dropped], "note": note,
        "model": used["model"], "tokens_in": used["tokens_in"], "tokens_out": used["tokens_out"], "cost_cents": cost,
    }  # fmt: skip


def _sentence(one: Held, found: list[dict[str, Any]]) -> dict[str, Any]:
    rests_on = [found[at] for at in one.passages]
    return {
        "text": one.text, "passages": [passage["passage_id"] for passage in rests_on],
        "starts": [second_of(one.text, passage["text"], passage.get("moments") or ()) for passage in rests_on],
    }  # fmt: skip


def _passage(one: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if name != "moments"}


def _most(price: Price, text: str) -> float:
    """What is held back before anybody is asked."""
    return price.of((len(prompt.INSTRUCTIONS) + len(text)) // _CHARACTERS + 1, _ANSWER_TOKENS)


def _cost(price: Price | None, reply: dict[str, Any]) -> float | None:
    if price is None or reply["tokens_in"] is None or reply["tokens_out"] is None:
        return None
    return price.of(reply["tokens_in"], reply["tokens_out"])
