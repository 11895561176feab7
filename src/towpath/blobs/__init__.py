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
from towpath.blobs.urls import BUCKETS, bucket_of, directory_of

__all__ = [
    "BUCKETS",
    "MAX_KEY_LENGTH",
    "BlobError",
    "BlobInfo",
    "BlobNotFound",
    "BlobStore",
    "BlobStoreClosed",
    "BlobStoreUnavailable",
    "InvalidBlobKey",
    "InvalidBlobUrl",
    "bucket_of",
    "directory_of",
    "lazily",
]
