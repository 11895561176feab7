"""New batches: the batch, its dataset and its job come to be in one transaction, or none of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from towpath import App, SchemaInvalid, Settings, Transaction, choices, new_id, plain_text, to_json
from towpath.batches import datasets, stored
from towpath.batches.datasets import Given
from towpath.batches.hearing_here import check_hearing
from towpath.batches.names import (
    COMPLETION,
    KIND,
    LOCAL,
    OPENAI_FILE,
    OPERATION_OF,
    QUEUE,
    TRANSCRIPTION,
)
from towpath.providers.catalog import PROVIDERS

LONGEST_TITLE = 300
MOST_MODELS = 20
MOST_INPUTS = 10_000
USUAL_SPEECH_MODEL = {"GOOGLE": "long"}
"""Where a provider of speech wants to be told one; the others have a usual one themselves."""
_LONGEST_LANE = 500


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose it is. Without an account it is everybody's in the tenant, as from the command line."""

    tenant: str
    account_id: str | None = None
    name: str | None = None

    @property
    def lane(self) -> str:
        """Fair turns are taken by person, not only by tenant."""
        return self.tenant if self.name is None else f"{self.tenant}/{self.name}"[:_LONGEST_LANE]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for. The requests, or the inputs of a transcription, are one of these: lines of one's own, an uploaded
    file, an address, or datasets that there are. See `as_lines` and `as_inputs`."""

    provider: str
    models: Sequence[str] = ()
    title: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    lines: AsyncIterator[bytes] | None = None
    asset_id: str | None = None
    uri: str | None = None
    dataset_ids: Sequence[str] = ()
    retry_of: str | None = None
    task_type: str = COMPLETION


async def checked_provider(app: App, name: str, task_type: str = COMPLETION) -> str:
    """The provider's name as it is registered; whoever misspells it is told before anything is stored."""
    asked = name.strip().upper().replace("-", "_")
    if asked == LOCAL:
        _check_chat(await choices.settings_of(app), task_type)
        return LOCAL
    if asked not in app.providers.names:
        known = ", ".join([LOCAL, *app.providers.names])
        raise SchemaInvalid(f"no provider is named {name[:100]!r}; there are {known}", path="provider")
    can = task_types_of(app, asked)
    if task_type not in can:
        raise SchemaInvalid(f"{asked} does {', '.join(sorted(can))}, and no {task_type}", path="provider")
    return asked


def _check_chat(settings: Settings, task_type: str) -> None:
    """Workers may be set up in another way than whoever sends the batch: then `answering` says it, too late."""
    if task_type == COMPLETION and not settings.chat_url:
        raise SchemaInvalid(
            "LOCAL asks the chat service of this installation, and there is none",
            path="provider",
            remedy="choose one in Settings → Models, or set TOWPATH_CHAT_URL here and where the workers run; "
            "or name another provider",
        )


def task_types_of(app: App, provider: str) -> frozenset[str]:
    """What it does, without its library where the catalog knows it: a server need not have that."""
    known = PROVIDERS.get(provider)
    return known.task_types if known is not None else app.providers.get(provider).task_types


async def checked_models(app: App, provider: str, models: Sequence[str], task_type: str = COMPLETION) -> list[str]:
    """Speech goes without a model as a rule: then it is `""`, and the provider takes its usual one."""
    found = list(dict.fromkeys(models))
    if task_type == TRANSCRIPTION:
        if provider == LOCAL and any(found):
            raise SchemaInvalid(
                "LOCAL hears by the speech model of this installation", path="models",
                remedy="leave models out, and choose it in Settings → Models or by TOWPATH_SPEECH_MODEL",
            )  # fmt: skip
        return found or [USUAL_SPEECH_MODEL.get(provider, "")]
    if not found and provider == LOCAL:
        settings = await choices.settings_of(app)
        found = [settings.chat_model] if settings.chat_model else []
    if not found:
        remedy = "or choose a chat model in Settings → Models, or by TOWPATH_CHAT_MODEL" if provider == LOCAL else None
        raise SchemaInvalid("name the models that are to be asked", path="models", remedy=remedy)
    return found


async def check(app: App, wanted: Wanted) -> tuple[str, list[str]]:
    """Refuses what can be seen to be wrong before anything is sent or stored; answers the provider's name and the models."""
    task_type = wanted.task_type
    provider = await checked_provider(app, wanted.provider, task_type)
    in_lines = OPENAI_FILE in wanted.settings  # each names its own
    models = [] if in_lines else await checked_models(app, provider, wanted.models, task_type)
    if task_type == TRANSCRIPTION and provider == LOCAL:
        check_hearing(await choices.settings_of(app), wanted.settings)
    return provider, models


async def create(app: App, wanted: Wanted, whose: Owner) -> tuple[str, str]:
    """Makes the batch and queues it; answers the ids of the batch and its job."""
    provider, models = await check(app, wanted)
    task_type = wanted.task_type
    kind = "inputs" if task_type == TRANSCRIPTION else "requests"
    batch_id, dataset_ids = new_id(), [one.lower() for one in wanted.dataset_ids]
    given = Given(wanted.lines, wanted.asset_id, wanted.uri)
    new = None if given.nothing else await datasets.store(app, whose.tenant, given, kind)
    if new is None and len(await stored.datasets(app, whose.tenant, dataset_ids)) < len(dataset_ids):
        raise SchemaInvalid("one of these datasets is not there", path="dataset_ids")
    title = " ".join(plain_text(wanted.title or "", LONGEST_TITLE * 4).split())[:LONGEST_TITLE]

    async def unit(tx: Transaction) -> str:
        if new is not None:
            await datasets.add(tx, new, batch_id=batch_id)
        await tx.change(
            "batch_add", id=batch_id, tenant=whose.tenant, lane=whose.lane, task_type=task_type, provider=provider,
            title=title or (new["name"] if new is not None else kind), models=to_json(models),
            settings=to_json(dict(wanted.settings)), dataset_ids=to_json([new["id"]] if new is not None else dataset_ids),
            retry_of=wanted.retry_of, created_by=whose.account_id, creator=whose.name, now=tx.now,
        )  # fmt: skip
        return await tx.enqueue(
            OPERATION_OF[task_type], {"batch_id": batch_id}, tenant=whose.tenant, lane=whose.lane, queue=QUEUE,
            subject=(KIND, batch_id),
        )  # fmt: skip

    return batch_id, await app.transact(unit)


async def as_lines(requests: Sequence[Any]) -> AsyncIterator[bytes]:
    """Requests that came as JSON, a line each."""
    for request in requests:
        yield json.dumps(request).encode() + b"\n"


async def as_inputs(inputs: Sequence[str]) -> AsyncIterator[bytes]:
    """Inputs of a transcription, ids of uploaded files or addresses, a line each."""
    for one in inputs:
        yield json.dumps({"input": one}).encode() + b"\n"
