"""Names of operations, queues, steps and blobs, as they are stored."""

from __future__ import annotations

RUN, ITEM, DOCUMENT = "document_run", "document_item", "document"
"""What the jobs work on, see `subject=`; and the messages that tell of them. A document is changed by items."""

INGEST = "documents.run"
READ = "documents.item"
REMOVE = "documents.remove"
TIDY = "documents.tidy"
QUEUE = "documents"
CARE_QUEUE = "documents.care"

UPLOAD, URL, BUCKET, REINGEST = "upload", "url", "bucket", "reingest"

ENQUEUED, DONE, FAILED = "ENQUEUED", "DONE", "FAILED"
FETCHED = "FETCHED"
CONTENT_EXTRACTED = "CONTENT_EXTRACTED"
CHUNKED = "CHUNKED"
EMBEDDED = "EMBEDDED"
ENTITY_EXTRACTED = "ENTITY_EXTRACTED"
PERSISTED = "PERSISTED"
INDEXED = "INDEXED"

INTERACTIVE, BULK = "interactive", "bulk"
PRIORITY_OF = {INTERACTIVE: 1, BULK: 2}

RESULTS = "document-results"
"""Folder of the blob store; below it by result."""

INDEX_KIND = "document"
"""What documents are called in the index of `towpath.search`."""


def run_tag(run_id: str) -> str:
    return f"run:{run_id}"


def type_tag(kind: str) -> str:
    return f"type:{kind.lower()}"
