"""Assets: files that a tenant has uploaded, shared by every product.

They come in as a stream (`receive`), as a form (`forms`) or by resumable upload (`uploads`), lie in the blob store under
generated keys, and are handed to the product whose `purpose` they were sent for. What only a server can do (`forms`,
`serving`, `tidying`, `uploads`) is not imported here: commands receive files without one.
"""

from towpath.assets.answers import MediaInfo
from towpath.assets.attaching import attach
from towpath.assets.checkup import checkup
from towpath.assets.decoding import Decoding
from towpath.assets.errors import AssetNotFound, AssetRefused, MediaUnreadable
from towpath.assets.files import open_file
from towpath.assets.keeping import delete, get, usage
from towpath.assets.limits import Limits
from towpath.assets.media import decode, probe
from towpath.assets.purposes import checks, kinds_taken, receivers
from towpath.assets.receiving import receive
from towpath.assets.records import Asset, Upload, Usage
from towpath.assets.sniffing import MEDIA

__all__ = [
    "MEDIA",
    "Asset",
    "AssetNotFound",
    "AssetRefused",
    "Decoding",
    "Limits",
    "MediaInfo",
    "MediaUnreadable",
    "Upload",
    "Usage",
    "attach",
    "checks",
    "checkup",
    "decode",
    "delete",
    "get",
    "kinds_taken",
    "open_file",
    "probe",
    "receive",
    "receivers",
    "usage",
]
