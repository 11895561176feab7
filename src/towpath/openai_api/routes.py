"""All routes of OpenAI's API. It is described by its makers, so it is not in this server's own description."""

from __future__ import annotations

from towpath.http.dialects import speak
from towpath.http.routing import Router
from towpath.openai_api import audio_routes, batch_routes, file_routes, model_routes
from towpath.openai_api.errors import told

router = Router(include_in_schema=False)
for _part in (file_routes, batch_routes, audio_routes, model_routes):
    router.include_router(_part.router)
speak("/v1/", told)
