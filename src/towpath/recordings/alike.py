"""Whether a file has been sent before: known by its content and by what was asked for, not by its name."""

from __future__ import annotations

from towpath import App
from towpath.recordings import moving
from towpath.recordings.intake import Options, checked
from towpath.recordings.records import Recording, recording_from
from towpath.recordings.status import CANCELLED, FAILED
from towpath.recordings.views import views


async def alike(app: App, tenant: str, sha256: str, options: Options) -> Recording | None:
    """The newest recording of this content with the same language, model and speakers; one with a summary is as good as one
    without. Raises `SchemaInvalid` for a language that nothing here hears."""
    wanted = await checked(app, options)
    asked = {"tenant": tenant, "sha256": sha256.lower(), "language": wanted.language, "speakers": wanted.speakers}
    rows = await app.query("recordings_alike", summary=bool(wanted.auto_summary), model=wanted.model, **asked)
    return recording_from(rows[0]) if rows else None


async def take_up(app: App, recording: Recording) -> None:
    """Begins one again that failed or was called off: where it stopped, with all its attempts."""
    [view] = await views(app, [recording])
    if view.status in (FAILED, CANCELLED):
        await moving.retry(app, recording)
