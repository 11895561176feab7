"""The batch providers that there are, and where they tell that a job has ended."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Request
from fastapi.responses import PlainTextResponse

from towpath import App, ConfigurationError
from towpath.batches import schemas
from towpath.batches.intake import task_types_of
from towpath.batches.names import COMPLETION, LOCAL, TRANSCRIPTION
from towpath.http.policy import Arriving, Reader
from towpath.http.problems import Problem, not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.providers import Challenged
from towpath.providers.catalog import PROVIDERS

router = Router(prefix="/api/providers", tags=["batches"])
_HERE = "This installation's own workers, with its chat service and its speech model"
_TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}

ProviderPath = Annotated[str, Path(description="The provider's name.", max_length=100)]


@router.get("", operation_id="list_providers")
async def list_providers(principal: Reader, app: Engine) -> schemas.ProviderList:
    """Who can be asked, and for what. Whether a provider is set up is said by the first batch that asks it."""
    here = schemas.ProviderInfo(name=LOCAL, task_types=[COMPLETION, TRANSCRIPTION], text=_HERE)
    return schemas.ProviderList(providers=[here, *(_info(app, name) for name in app.providers.names)])


def _info(app: App, name: str) -> schemas.ProviderInfo:
    known = PROVIDERS.get(name)
    types = sorted(task_types_of(app, name))
    return schemas.ProviderInfo(name=name, task_types=types, text=known.text if known is not None else "")


@router.post(
    "/{name}/callback",
    operation_id="provider_callback",
    response_model=schemas.CallbackTaken,
    responses=_TEXT | responses(401, 404),
)
async def provider_callback(
    _anyone: Arriving, app: Engine, request: Request, name: ProviderPath
) -> schemas.CallbackTaken | PlainTextResponse:
    """For providers: a job has ended. The message must be signed as that provider signs; the job is then polled at once.
    A provider that asks whether the address is ours (AZURE) is answered with its token."""
    if name not in app.providers.names:
        raise not_found("there is no such provider")
    try:
        provider = app.providers.get(name)
    except ConfigurationError:
        raise not_found("this provider is not set up here") from None
    if isinstance(provider, Challenged):
        said = provider.challenge(request.headers, request.query_params)
        if said is not None:
            return PlainTextResponse(said)
    if provider.called_back(request.headers, await request.body()) is None:
        raise Problem("unauthenticated", 401, "this is not signed as that provider signs its messages")
    return schemas.CallbackTaken(taken=await app.provider_jobs.called_back(name, request.headers, await request.body()))
