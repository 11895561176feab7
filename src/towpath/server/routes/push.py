"""Bells that come from outside, as requests."""

from __future__ import annotations

import logging

from fastapi import Request
from pydantic import ValidationError

from towpath.core.errors import ConfigurationError
from towpath.core.masking import masked
from towpath.engine.registry import check_name
from towpath.http.policy import Arriving
from towpath.http.problems import Problem, not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine, app_of, base_url_of
from towpath.identity.errors import LoginRefused
from towpath.identity.oidc.pushing import Pushing
from towpath.server.schemas.push import Pushed

router = Router(prefix="/api/push", tags=["push"])
log = logging.getLogger("towpath.http")

_MOST_QUEUES = 100


@router.post("/pubsub", operation_id="pubsub_push", status_code=204, responses=responses(401, 404, 503))
async def pubsub_push(_anyone: Arriving, app: Engine, request: Request) -> None:
    """For Google Cloud Pub/Sub: a push subscription with authentication delivers messages here, and each rings for the
    queues that its attribute `queue` names, separated by commas. It does nothing else, so that a message may come any number
    of times. Its token must be signed for this address, by the service account of the settings."""
    pushing = _pushing(request)
    try:
        await pushing.check(request.headers.get("authorization", ""))
    except LoginRefused as error:
        raise Problem("unauthenticated", 401, str(error), headers={"WWW-Authenticate": "Bearer"}) from None
    queues = _queues(await request.body(), pushing)
    if queues:
        app.services.transport.arrived(queues)


def _pushing(request: Request) -> Pushing:
    state, settings = request.app.state, app_of(request).settings
    if not settings.pubsub_push_account:
        raise not_found("no push of Pub/Sub is expected here: TOWPATH_PUBSUB_PUSH_ACCOUNT is not set")
    if not hasattr(state, "towpath_pushing"):
        if not settings.pubsub_push_audience and not settings.base_url:
            raise not_found("nobody knows which address is pushed to: TOWPATH_PUBSUB_PUSH_AUDIENCE is not set")
        audience = settings.pubsub_push_audience or f"{base_url_of(request)}/api/push/pubsub"
        state.towpath_pushing = Pushing(settings.pubsub_push_issuer, audience, settings.pubsub_push_account)
    found: Pushing = state.towpath_pushing
    return found


def _queues(body: bytes, pushing: Pushing) -> list[str]:
    """What Pub/Sub is answered with an error it sends again, for days: what makes no sense is taken, said and forgotten."""
    try:
        message = Pushed.model_validate_json(body).message
        named = [one.strip() for one in message.attributes.get("queue", "").split(",") if one.strip()]
        queues = [check_name("a queue's name", one) for one in named[:_MOST_QUEUES]]
    except (ValidationError, ConfigurationError) as error:
        log.warning("a push of Pub/Sub could not be read: %s", masked(str(error))[:300])
        return []
    if not queues:
        log.warning("a push of Pub/Sub named no queue; set the attribute `queue`")
    return queues if pushing.is_new(message.message_id) else []
