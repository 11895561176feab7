"""Resumable uploads by the tus protocol 1.0.0 (https://tus.io), as Uppy and others speak it.

Why not a library: docs/decisions/0028-tus-is-spoken-by-our-own-code.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from email.utils import format_datetime
from typing import Annotated, Any

from fastapi import Header, Path, Request, Response
from starlette.requests import ClientDisconnect

from towpath import assets
from towpath.assets import uploads
from towpath.assets.errors import longer_than_announced
from towpath.core.records import Job
from towpath.engine.app import App
from towpath.http import bodies
from towpath.http.asset_problems import status_of
from towpath.http.audit import audit
from towpath.http.patience import HANDING_OVER
from towpath.http.policy import Anyone, Reader, Writer
from towpath.http.problems import Problem, conflict, invalid, not_found, responses
from towpath.http.routing import Router
from towpath.http.senders import sender_of
from towpath.http.state import Engine
from towpath.identity.principal import Principal
from towpath.server.schemas.assets import Upload, UploadError
from towpath.server.upload_metadata import wanted_from

router = Router(prefix="/api/uploads", tags=["uploads"])

VERSION = "1.0.0"
BYTES = "application/offset+octet-stream"
_IDLE_SECONDS = 60.0
_EXTENSIONS = "creation,creation-with-upload,expiration,termination"
_HEADERS = frozenset({"tus-resumable", "upload-length", "upload-metadata", "upload-offset"})

bodies.stream("POST", "/api/uploads", BYTES)
bodies.stream("PATCH", "/api/uploads/[^/]+", BYTES)

UploadPath = Annotated[str, Path(description="The upload's id.")]
Resumable = Annotated[str | None, Header(alias="Tus-Resumable", description="The version of the protocol: 1.0.0")]
_BODY = {"requestBody": {"content": {BYTES: {"schema": {"type": "string", "format": "binary"}}}}}


def _answer(status: int, **headers: str) -> Response:
    named = {name.replace("_", "-").title(): value for name, value in headers.items()}
    return Response(status_code=status, headers=named | {"Tus-Resumable": VERSION, "Cache-Control": "no-store"})


@router.options("", status_code=204, response_class=Response, include_in_schema=False)
async def describe_uploads(_: Anyone, app: Engine) -> Response:
    """What this server's uploads can do."""
    most = {"tus_max_size": str(app.settings.max_upload_bytes)} if app.settings.max_upload_bytes else {}
    return _answer(204, tus_version=VERSION, tus_extension=_EXTENSIONS, **most)


@router.post(
    "",
    operation_id="create_upload",
    status_code=201,
    response_class=Response,
    responses=responses(412, 429),
    openapi_extra=_BODY,
)
async def create_upload(
    principal: Writer,
    app: Engine,
    request: Request,
    tus_resumable: Resumable = None,
    upload_length: Annotated[str | None, Header(alias="Upload-Length", description="Bytes in the file.")] = None,
    upload_metadata: Annotated[
        str | None,
        Header(
            alias="Upload-Metadata",
            description="Keys with values in base64: `filename`, `purpose` (such as `recording`), and its options.",
        ),
    ] = None,
) -> Response:
    """Begins an upload. The answer's `Location` is where the bytes go."""
    _check_protocol(request)
    made = await uploads.create(
        app, sender_of(principal), wanted_from(_number("Upload-Length", upload_length), upload_metadata or "")
    )
    audit(request, "upload.create", made.id, purpose=made.purpose, bytes=made.length)
    offset = 0
    if request.headers.get("content-type", "").startswith(BYTES):
        offset = await _append(app, made, 0, request)
    location = f"{str(request.scope.get('root_path', '')).rstrip('/')}/api/uploads/{made.id}"
    return _answer(201, location=location, upload_offset=str(offset), upload_expires=_expires(app, made.touched_at))


@router.head("/{upload_id}", response_class=Response, include_in_schema=False)
async def find_upload_offset(
    principal: Reader, app: Engine, request: Request, upload_id: UploadPath, tus_resumable: Resumable = None
) -> Response:
    """How much of it is here, in `Upload-Offset`."""
    found = await _own(app, principal, upload_id)
    _check_protocol(request)
    if found.error:
        raise Problem("not_found", 410, str(found.error["detail"]), remedy="make a new upload")
    more = {"upload_metadata": found.metadata} if found.metadata else {}
    if not found.complete:
        more["upload_expires"] = _expires(app, found.touched_at)
    return _answer(200, upload_offset=str(found.received), upload_length=str(found.length), **more)


@router.get("/{upload_id}", operation_id="get_upload", responses=responses(404))
async def get_upload(principal: Reader, app: Engine, upload_id: UploadPath) -> Upload:
    """How far it is, and in the end what was made of it, or why nothing."""
    found = await _own(app, principal, upload_id)
    asset = await assets.get_of_any_tenant(app, found.id)
    state, error = await _standing(app, found)
    return Upload(
        id=found.id, name=asset.name, state=state, length=found.length, received=found.received,
        purpose=found.purpose, result=found.result, error=error,
    )  # fmt: skip


async def _standing(app: App, found: assets.Upload) -> tuple[Any, UploadError | None]:
    if kept := found.error:
        return "failed", UploadError(detail=kept["detail"], remedy=kept["remedy"], status=status_of(kept["why"]))
    if found.finished_at:
        return "done", None
    if not found.complete:
        return "uploading", None
    failed = await uploads.failed_job(app, found.id)
    return ("finishing", None) if failed is None else ("stuck", _stuck(failed))


def _stuck(job: Job) -> UploadError:
    why = (job.error or {}).get("message") or "no reason was recorded"
    return UploadError(
        detail=f"all of the file is here, and handing it over failed: {why}",
        remedy=f"mend that and retry job {job.id} from the inbox; the file need not be sent again", status=500,
    )  # fmt: skip


@router.patch(
    "/{upload_id}", operation_id="append_to_upload", status_code=204, response_class=Response,
    responses=responses(404, 409, 412), openapi_extra=_BODY,
)  # fmt: skip
async def append_to_upload(
    principal: Writer,
    app: Engine,
    request: Request,
    upload_id: UploadPath,
    tus_resumable: Resumable = None,
    upload_offset: Annotated[str | None, Header(alias="Upload-Offset", description="Where these bytes belong.")] = None,
) -> Response:
    """Adds bytes. With the last one a job hands the file to its purpose; the answer waits for it, unless that takes long."""
    found = await _own(app, principal, upload_id)
    _check_protocol(request)
    if found.error:
        raise conflict(f"the upload has failed: {found.error['detail']}", remedy=found.error["remedy"])
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != BYTES:
        raise Problem("invalid", 415, f"the body must be {BYTES}", remedy=f"send `Content-Type: {BYTES}`")
    offset = await _append(app, found, _number("Upload-Offset", upload_offset), request)
    audit(request, "upload.append", found.id, offset=offset)
    return _answer(204, upload_offset=str(offset), upload_expires=_expires(app, found.touched_at))


async def _append(app: App, upload: assets.Upload, offset: int, request: Request) -> int:
    if offset != upload.received:
        raise assets.Misplaced(offset, upload.received)
    announced = request.headers.get("content-length", "0")
    if announced.isdecimal() and offset + int(announced) > upload.length:
        raise longer_than_announced(upload.length)
    reached = await uploads.append(app, upload, offset, _as_it_comes(request))
    if reached.job_id is not None:
        await uploads.ended(app, upload.id, reached.job_id, within=HANDING_OVER)
    return reached.offset


async def _as_it_comes(request: Request) -> AsyncIterator[bytes]:
    """Ends where the connection ends, or goes silent: what has come by then is kept."""
    body = request.stream()
    try:
        while True:
            async with asyncio.timeout(_IDLE_SECONDS):
                piece = await anext(body)
            yield piece
    except (StopAsyncIteration, ClientDisconnect, TimeoutError):
        return


@router.delete(
    "/{upload_id}", operation_id="delete_upload", status_code=204, response_class=Response,
    responses=responses(404, 409, 412),
)  # fmt: skip
async def delete_upload(
    principal: Writer, app: Engine, request: Request, upload_id: UploadPath, tus_resumable: Resumable = None
) -> Response:
    """Gives an upload up, with what has come of it. One that was handed over belongs to what was made of it."""
    found = await _own(app, principal, upload_id)
    _check_protocol(request)
    if found.finished_at and not found.error:
        raise conflict("the upload is complete and has been handed over", remedy="delete what was made of it")
    if found.complete and not found.error and await uploads.being_finished(app, found.id):
        raise conflict("the upload is complete and is being handed over", remedy="wait for that, or cancel its job first")
    await assets.delete(app, found.tenant, [found.id])
    audit(request, "upload.delete", found.id, tenant=found.tenant)
    return _answer(204)


async def _own(app: App, principal: Principal, upload_id: str) -> assets.Upload:
    """Only whoever began it goes on with it; for everybody else there is nothing here."""
    found = None if "\x00" in upload_id else await uploads.find(app, upload_id)
    mine = found is not None and (found.tenant, found.sender.account_id) == (principal.tenant, principal.account_id)
    if found is None or not (mine or principal.admin):
        raise not_found(f"no upload has the id {upload_id[:100]!r}; it may have been given up or have expired")
    return found


def _check_protocol(request: Request) -> None:
    """A header of an extension that is not spoken here was meant to do something: to join uploads, to check a sum."""
    unknown = sorted(name for name in request.headers if name.startswith(("upload-", "tus-")) and name not in _HEADERS)
    if unknown:
        raise Problem(
            "invalid", 422, f"this server's uploads know no {', '.join(unknown)[:200]}",
            remedy=f"the extensions are {_EXTENSIONS}; leave other headers out",
            errors=[(name[:100], "there is no such header here") for name in unknown[:20]],
        )  # fmt: skip
    given = request.headers.get("tus-resumable")
    if given != VERSION:
        raise Problem(
            "invalid", 412, f"this speaks version {VERSION} of the tus protocol, the request names {(given or 'none')[:50]}",
            remedy=f"send the header `Tus-Resumable: {VERSION}`", headers={"Tus-Version": VERSION},
        )  # fmt: skip


def _number(name: str, given: str | None) -> int:
    if given is None or not given.isascii() or not given.isdecimal() or len(given) > 18:
        raise invalid(name, f"must be a number of bytes, got {(given or 'nothing')[:50]!r}")
    return int(given)


def _expires(app: App, touched: datetime) -> str:
    until = touched + timedelta(hours=app.settings.keep_unfinished_uploads_hours)
    return format_datetime(until, usegmt=True)
