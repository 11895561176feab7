"""Models: what hears and chats here, what can be pulled, and the services that administrators set up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Path, Request

from towpath.choices import changing, overlay, trying
from towpath.choices.pulling import PULL, Asked
from towpath.choices.records import Service as KeptService
from towpath.core.errors import ConfigurationError
from towpath.http.audit import audit, audited, note
from towpath.http.policy import Admin, Reader
from towpath.http.problems import conflict, invalid, not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.models import inventory, pulling
from towpath.server.modelling import told
from towpath.server.schemas import models as schemas
from towpath.store.also import Also

router = Router(prefix="/api/models", tags=["models"])

ServicePath = Annotated[str, Path(description="The service's name.", max_length=63)]
ModelPath = Annotated[str, Path(description="The model's name, such as whisper/small.", max_length=100)]
KindPath = Annotated[schemas.KindName, Path(description="What it is for.")]


@router.get("", operation_id="list_models")
async def list_models(principal: Reader, app: Engine) -> schemas.ModelList:
    """Every model that can be used here, or could be, and what does the work for which nobody chose one. Of services
    everybody sees the names; administrators see the rest of them at `/api/models/services`."""
    return await told(app, admin=principal.admin)


@router.put("/defaults/{kind}", operation_id="set_default_model", responses=responses(404))
async def set_default_model(
    principal: Admin, app: Engine, request: Request, kind: KindPath, asked: schemas.ModelDefaultChange
) -> schemas.ModelList:
    """What counts from now on where nobody says otherwise, before what the environment says. What is being worked on goes on
    as it began."""
    line: Also[str | None] = audited(request, lambda made: note("models.default", kind, model=made))
    await changing.choose(app, kind, asked.model, also=line)
    return await told(app, admin=principal.admin)


@router.get("/services", operation_id="list_model_services")
async def list_model_services(_principal: Admin, app: Engine) -> list[schemas.ModelService]:
    """Services for speech and chat that were set up here. Their keys are in no answer."""
    known = await overlay.chosen(app.services.store)
    return [_shown(one) for one in known.services.values()]


@router.post("/services", status_code=201, operation_id="create_model_service", responses=responses(409))
async def create_model_service(
    _principal: Admin, app: Engine, request: Request, asked: schemas.NewModelService
) -> schemas.ModelService:
    """Sets one up: any that speaks OpenAI's `/audio/transcriptions` or `/chat/completions`. It may be on this machine or in
    its network."""
    line: Also[KeptService] = audited(
        request, lambda made: note("models.service.create", made.name, kind=made.kind, url=made.url)
    )
    with _refusals():
        return _shown(await changing.add_service(app, asked.name, asked.kind, _wanted(asked), also=line))


@router.put("/services/{name}", operation_id="update_model_service", responses=responses(404, 409))
async def update_model_service(
    _principal: Admin, app: Engine, request: Request, name: ServicePath, asked: schemas.ModelServiceChange
) -> schemas.ModelService:
    """It counts at once, also for what is queued. A kept key stays with its address: for another one it is entered again."""
    line: Also[KeptService] = audited(
        request, lambda made: note("models.service.update", made.name, url=made.url, new_key=bool(asked.key))
    )
    with _refusals():
        return _shown(await changing.change_service(app, name, _wanted(asked), also=line))


@router.delete("/services/{name}", status_code=204, operation_id="delete_model_service", responses=responses(404, 409))
async def delete_model_service(_principal: Admin, app: Engine, request: Request, name: ServicePath) -> None:
    """Its key goes with it. 409 while it is the default; what is queued for it fails, and says why."""
    with _refusals():
        await changing.remove_service(app, name, also=audited(request, lambda gone: note("models.service.delete", gone)))


@router.post("/test", operation_id="test_model_service")
async def try_model_service(
    _principal: Admin, app: Engine, request: Request, asked: schemas.ServiceTrial
) -> schemas.TriedService:
    """Really asks a service, with a second of sound or for one word, and tells how long it took or what was wrong."""
    tried = await trying.try_service(app, asked.kind, asked.model)
    audit(request, "models.test", asked.model, kind=asked.kind, ok=tried.ok)
    return schemas.TriedService(ok=tried.ok, seconds=tried.seconds, said=tried.said, error=tried.error, remedy=tried.remedy)


@router.post("/pull", status_code=202, operation_id="pull_model")
async def pull_model(principal: Admin, app: Engine, request: Request, asked: schemas.NewModelPull) -> schemas.ModelPulling:
    """Fetches a model to the machine of the worker that gets the job. Asked again while that runs, it is that job."""
    try:
        pulling.check(asked.model)
    except ConfigurationError as error:
        raise invalid("model", str(error)) from None
    job = await app.enqueue(
        PULL, Asked(asked.model, asked.force), tenant=principal.tenant, key=asked.model, subject=("model", asked.model)
    )
    audit(request, "models.pull", asked.model)
    return schemas.ModelPulling(job_id=job.id)


@router.delete("/pulled/{model:path}", status_code=204, operation_id="delete_model", responses=responses(404, 409))
async def delete_model(_principal: Admin, app: Engine, request: Request, model: ModelPath) -> None:
    """Takes a pulled model from this machine. 409 while it is the default."""
    with _refusals():
        await changing.check_not_chosen(app, model)
    if not any(entry.name == model and entry.pulled for entry in await asyncio.to_thread(inventory.entries, app.settings)):
        raise not_found(f"no model {model[:100]!r} was pulled to this machine")
    await asyncio.to_thread(pulling.remove, app.settings, model)
    audit(request, "models.delete", model)


@contextmanager
def _refusals() -> Iterator[None]:
    """What choices refuse, as problems."""
    try:
        yield
    except changing.ServiceNotFound as error:
        raise not_found(str(error)) from None
    except changing.StillChosen as error:
        raise conflict(str(error)) from None
    except ConfigurationError as error:  # there is no place for a key
        message, _, remedy = str(error).partition(": set ")
        raise conflict(message, remedy=f"set {remedy}" if remedy else None) from None


def _wanted(asked: schemas.ModelServiceChange) -> changing.Wanted:
    return changing.Wanted(asked.url, asked.model, asked.languages, asked.key)


def _shown(one: KeptService) -> schemas.ModelService:
    return schemas.ModelService(
        name=one.name, kind=one.kind, url=one.url, model=one.model,
        languages=None if one.languages is None else list(one.languages), has_key=one.secret is not None,
        created_at=one.created_at, changed_at=one.changed_at,
    )  # fmt: skip
