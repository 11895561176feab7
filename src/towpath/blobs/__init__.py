"""Object storage: large payloads, step outputs, results and uploads, behind one contract."""

from towpath.blobs.contract import BlobInfo, BlobStore
from towpath.blobs.errors import (
    BlobError,
    BlobNotFound,
    BlobStoreClosed,
    BlobStoreUnavailable,
    InvalidBlobKey,
    InvalidBlobUrl,
)
from towpath.blobs.keys import MAX_KEY_LENGTH
from towpath.blobs.lazy import lazily
from towpath.blobs.local import LocalBlobs
from towpath.blobs.opening import open_blobs

__all__ = [
    "MAX_KEY_LENGTH",
    "BlobError",
    "BlobInfo",
    "BlobNotFound",
    "BlobStore",
    "BlobStoreClosed",
    "BlobStoreUnavailable",
    "InvalidBlobKey",
    "InvalidBlobUrl",
    "LocalBlobs",
    "lazily",
    "open_blobs",
]
