"""What can go wrong with a blob.

BlobError
├── BlobNotFound            nothing is stored under the key
├── InvalidBlobKey          the key or prefix is outside the grammar, or is a folder and a blob at once
├── InvalidBlobUrl          the URL of the store names no store we know
├── BlobStoreClosed         used after `aclose`
└── BlobStoreUnavailable    the disk or service did not do it; trying again later may help
"""


class BlobError(Exception):
    """Every error of a blob store. One of no narrower class means that a retry will not help."""


class BlobNotFound(BlobError):
    def __init__(self, key: str) -> None:
        super().__init__(f"no blob is stored under {key!r}; it was never written, or it was deleted or moved: check the key")
        self.key = key


class InvalidBlobKey(BlobError):
    pass


class InvalidBlobUrl(BlobError):
    pass


class BlobStoreClosed(BlobError):
    pass


class BlobStoreUnavailable(BlobError):
    pass
