"""Google Cloud Storage as far as a job needs it, in its XML API: objects are read, written, listed and deleted.

They are the simulator's files, under `gs://bucket/name`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from starlette.responses import Response
from starlette.routing import Route

from towpath.providers.simulator.faults import Fault
from towpath.providers.simulator.simulator import Simulator

if TYPE_CHECKING:
    from starlette.requests import Request

PREFIX = "/storage"
_STAMP = {"etag": '"simulated"', "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT"}


class CloudStorage:
    def __init__(self, simulator: Simulator, token: str) -> None:
        self._simulator, self._token = simulator, token
        self._parts: dict[str, dict[int, bytes]] = {}

    @property
    def routes(self) -> list[Route]:
        return [
            Route(f"{PREFIX}/{{bucket}}", self._list, methods=["GET"]),
            Route(f"{PREFIX}/{{bucket}}/{{name:path}}", self._object, methods=["GET", "PUT", "POST", "DELETE"]),
        ]

    async def _list(self, request: Request) -> Response:
        if not self._admits(request):
            return _refused(401, "AuthenticationRequired")
        folder = f"gs://{request.path_params['bucket']}/"
        wanted = folder + request.query_params.get("prefix", "")
        found = ElementTree.Element("ListBucketResult")
        ElementTree.SubElement(found, "IsTruncated").text = "false"
        for uri in sorted(uri for uri in self._simulator.files if uri.startswith(wanted)):
            entry = ElementTree.SubElement(found, "Contents")
            size = str(len(self._simulator.files[uri]))
            for name, value in (
                ("Key", uri.removeprefix(folder)),
                ("LastModified", "2026-01-01T00:00:00.000Z"),
                ("Size", size),
            ):
                ElementTree.SubElement(entry, name).text = value
        return _xml(found)

    async def _object(self, request: Request) -> Response:
        if not self._admits(request):
            return _refused(401, "AuthenticationRequired")
        uri, files = "gs://{bucket}/{name}".format(**request.path_params), self._simulator.files
        if request.method == "POST" or "uploadId" in request.query_params:
            return self._multipart(uri, request.query_params.get("uploadId"), request, await request.body())
        if request.method == "PUT":
            files[uri] = await request.body()
            return Response(headers=_STAMP)
        if uri not in files:
            return _refused(404, "NoSuchKey")
        if request.method == "DELETE":
            del files[uri]
            return Response(status_code=204)
        data = files[uri]
        if self._simulator.faults.strikes(Fault.TRUNCATED):
            data = data[: len(data) // 2]
        return Response(data, headers=_STAMP, media_type="application/octet-stream")

    def _multipart(self, uri: str, upload_id: str | None, request: Request, body: bytes) -> Response:
        if upload_id is None:
            upload_id = self._simulator.new_id("upload")
            self._parts[upload_id] = {}
            begun = ElementTree.Element("InitiateMultipartUploadResult")
            ElementTree.SubElement(begun, "UploadId").text = upload_id
            return _xml(begun)
        if request.method == "PUT":
            self._parts[upload_id][int(request.query_params["partNumber"])] = body
            return Response(headers=_STAMP)
        parts = self._parts.pop(upload_id)
        self._simulator.files[uri] = b"".join(parts[number] for number in sorted(parts))
        done = ElementTree.Element("CompleteMultipartUploadResult")
        ElementTree.SubElement(done, "ETag").text = _STAMP["etag"]
        return _xml(done)

    def _admits(self, request: Request) -> bool:
        return request.headers.get("authorization") == f"Bearer {self._token}"


def _xml(element: ElementTree.Element) -> Response:
    return Response(ElementTree.tostring(element), media_type="application/xml")


def _refused(status: int, code: str) -> Response:
    return Response(f"<Error><Code>{code}</Code></Error>", status, media_type="application/xml")
