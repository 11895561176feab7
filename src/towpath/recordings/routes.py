"""The routes of recordings. Fixed addresses come before those with an id in them."""

from __future__ import annotations

from towpath.http.routing import Router
from towpath.recordings import (
    audio_routes,
    job_routes,
    recording_routes,
    share_routes,
    speaker_routes,
    tag_routes,
    template_routes,
    transcript_routes,
    upload_route,
)

router = Router()
for _part in (
    upload_route,
    job_routes,
    tag_routes,
    template_routes,
    transcript_routes,
    speaker_routes,
    share_routes,
    audio_routes,
    recording_routes,
):
    router.include_router(_part.router)
