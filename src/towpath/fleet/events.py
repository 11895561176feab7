"""What buckets tell of their objects: notices of S3 as they come from SQS, also through SNS or EventBridge, and as MinIO and
SeaweedFS send them to an address.

A key is encoded as in a form in notices of S3, and is decoded once. Whatever is no new object, test notices among them, is
passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

from towpath import SchemaInvalid, plain_text

_DEEPEST = 3
"""A notice in an envelope in an envelope."""


@dataclass(frozen=True, slots=True)
class Created:
    """An object that has come. What a notice leaves out is empty."""

    bucket: str
    key: str
    size: int | None = None
    etag: str = ""
    version: str = ""
    sequencer: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """One message: the objects it tells of, and how many of its records are about something else."""

    created: list[Created]
    ignored: int


def read(body: str | bytes) -> Notice:
    """SchemaInvalid for what is no notice of a bucket."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        raise SchemaInvalid("the message is no notice of a bucket: it is no JSON") from None
    created: list[Created] = []
    ignored = 0
    for record in _records(told, _DEEPEST):
        found = _created(record)
        if found is None:
            ignored += 1
        else:
            created.append(found)
    return Notice(created, ignored)


def _records(told: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if not isinstance(told, dict):
        raise SchemaInvalid("the message is no notice of a bucket: it is no JSON object")
    if told.get("Event") == "s3:TestEvent":
        yield {}
    elif isinstance(told.get("Records"), list):
        yield from (record if isinstance(record, dict) else {} for record in told["Records"])
    elif isinstance(told.get("Message"), str) and depth:  # through SNS
        try:
            yield from _records(json.loads(told["Message"]), depth - 1)
        except ValueError:
            raise SchemaInvalid("the message is no notice of a bucket: what SNS has passed on is no JSON") from None
    elif told.get("source") == "aws.s3" and isinstance(told.get("detail"), dict):
        yield {"eventbridge": told}
    elif isinstance(told.get("key"), str) and ("message" in told or "event_type" in told):
        yield {"filer": told}
    else:
        raise SchemaInvalid("the message is no notice of a bucket: it has no Records")


def _created(record: Mapping[str, Any]) -> Created | None:
    try:
        if "eventbridge" in record:
            return _from_eventbridge(record["eventbridge"])
        if "filer" in record:
            return _from_filer(record["filer"])
        return _from_s3(record)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _from_s3(record: Mapping[str, Any]) -> Created | None:
    name = str(record.get("eventName", "")).removeprefix("s3:")
    if not name.startswith("ObjectCreated:"):
        return None
    told = record["s3"]["object"]
    return _checked(
        str(record["s3"]["bucket"]["name"]), unquote_plus(str(told["key"])), told.get("size"), told.get("eTag"),
        told.get("versionId"), told.get("sequencer"),
    )  # fmt: skip


def _from_eventbridge(told: Mapping[str, Any]) -> Created | None:
    """Here the key is as it is."""
    if told.get("detail-type") != "Object Created":
        return None
    detail = told["detail"]
    one = detail["object"]
    return _checked(
        str(detail["bucket"]["name"]), str(one["key"]), one.get("size"), one.get("etag"), one.get("version-id"),
        one.get("sequencer"),
    )  # fmt: skip


def _from_filer(told: Mapping[str, Any]) -> Created | None:
    """SeaweedFS tells of files below /buckets: one that has come has a new entry and no old one, or a changed one."""
    path = str(told["key"])
    message = told.get("message") or {}
    entry = message.get("new_entry") or message.get("newEntry")
    kind = str(told.get("event_type", "create"))
    if not path.startswith("/buckets/") or kind not in ("create", "update") or (message and not entry):
        return None
    bucket, _, key = path.removeprefix("/buckets/").partition("/")
    attributes = (entry or {}).get("attributes") or {}
    if (entry or {}).get("is_directory") or not key:
        return None
    size = attributes.get("file_size")
    return _checked(bucket, key, None if size is None else int(size), None, None, None)


def _checked(bucket: str, key: str, size: Any, etag: Any, version: Any, sequencer: Any) -> Created | None:
    """None for what no bucket has: a folder's placeholder, a key that no database can store."""
    if not bucket or not key or key.endswith("/") or plain_text(key, 2000) != key:
        return None
    version_id = "" if version in (None, "null") else str(version)
    known = size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None
    return Created(bucket, key, known, str(etag or "").strip('"')[:200], version_id[:1100], str(sequencer or "")[:200])


def is_older(sequencer: str, than: str) -> bool:
    """Whether a notice tells of an earlier content than another one of the same key. They are numbers in hexadecimal, of
    which the shorter one is to be filled up with zeros on its left."""
    if not sequencer or not than:
        return False
    width = max(len(sequencer), len(than))
    return sequencer.rjust(width, "0").upper() < than.rjust(width, "0").upper()
