"""How AWS talks: requests signed by version 4, JSON 1.1, and shapes that botocore's own service model describes."""

from __future__ import annotations

import hmac
import json
import re
from datetime import datetime
from functools import cache
from typing import Any

import botocore.session
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.model import Shape
from botocore.validate import ParamValidator
from starlette.requests import Request
from starlette.responses import Response

ACCESS_KEY = "AKIASIMULATOR0000000"
SECRET_KEY = "secret-of-the-simulated-account"
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/\d{8}/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request, "
    r"SignedHeaders=(?P<headers>[^,]+), Signature=(?P<signature>[0-9a-f]{64})"
)


def signed(request: Request, body: bytes) -> bool:
    """Whether its signature is what botocore would make of it with our secret."""
    given = _AUTHORIZATION.fullmatch(request.headers.get("authorization", ""))
    if given is None or given["key"] != ACCESS_KEY:
        return False
    signer = (S3SigV4Auth if given["service"] == "s3" else SigV4Auth)(
        Credentials(ACCESS_KEY, SECRET_KEY), given["service"], given["region"]
    )
    headers = {name: request.headers.get(name, "") for name in given["headers"].split(";")}
    asked = AWSRequest(request.method, str(request.url), headers=headers, data=body)
    asked.context["timestamp"] = request.headers.get("x-amz-date", "")
    expected = signer.signature(signer.string_to_sign(asked, signer.canonical_request(asked)), asked)
    return hmac.compare_digest(expected, given["signature"])


class Wrong(Exception):
    """What the service refuses: the name of one of its exceptions, and why."""

    def __init__(self, code: str, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status


@cache
def _service() -> Any:
    return botocore.session.get_session().get_service_model("transcribe")


def read(operation: str, body: bytes) -> dict[str, Any]:
    """The request, if it fits the operation's input shape: types, what is required, lengths, patterns and enumerations."""
    given: dict[str, Any] = json.loads(body)
    shape = _service().operation_model(operation).input_shape
    report = ParamValidator().validate(given, shape)
    if report.has_errors():
        raise Wrong("BadRequestException", report.generate_report())
    _fits(given, shape, operation)
    return given


def answer(operation: str, value: dict[str, Any]) -> Response:
    shape = _service().operation_model(operation).output_shape
    if shape is not None:
        report = ParamValidator().validate(value, shape)
        if report.has_errors():
            raise ValueError(report.generate_report())
    return _json(value, 200)


def refused(wrong: Wrong, headers: dict[str, str] | None = None) -> Response:
    """The service's own exceptions are all the caller's fault but one; botocore's model does not always say so."""
    status = wrong.status or (500 if wrong.code == "InternalFailureException" else 400)
    return _json({"__type": wrong.code, "Message": wrong.message}, status, headers)


def _json(value: dict[str, Any], status: int, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(value, default=_seconds)
    return Response(body, status, headers, media_type="application/x-amz-json-1.1")


def _seconds(value: datetime) -> float:
    return value.timestamp()


def _fits(value: Any, shape: Shape, path: str) -> None:
    """Patterns and enumerations, which botocore leaves to the service."""
    if shape.type_name == "structure":
        for name, member in value.items():
            _fits(member, shape.members[name], f"{path}.{name}")
    elif shape.type_name == "list":
        for member in value:
            _fits(member, shape.member, path)
    elif shape.type_name == "string":
        allowed, pattern = shape.metadata.get("enum"), shape.metadata.get("pattern")
        longest = shape.metadata.get("max")
        if (allowed and value not in allowed) or (pattern and not re.fullmatch(pattern.rstrip("$"), value)):
            raise Wrong("BadRequestException", f"{path} has a value that is not allowed: {value!r}")
        if longest and len(value) > longest:
            raise Wrong("BadRequestException", f"{path} is longer than {longest}")
