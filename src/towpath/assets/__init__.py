"""Assets: files that a tenant has uploaded, shared by every product.

They come in as a stream (`receive`) or as uploads, in one piece or in many (`uploads`), lie in the blob store under
generated keys, and uploads are handed to the product that registered for their purpose (`on_upload`). Nothing here needs a
server: commands receive files without one.
"""

from towpath.assets.answers import MediaInfo
from towpath.assets.decoding import Decoding
from towpath.assets.errors import AssetNotFound, AssetRefused, MediaUnreadable, Misplaced
from towpath.assets.files import open_file
from towpath.assets.limits import Limits
from towpath.assets.lookup import get, get_all, get_of_any_tenant
from towpath.assets.media import decode, probe
from towpath.assets.purposes import Arrival, on_upload
from towpath.assets.quota import usage
from towpath.assets.records import Asset, Upload, Usage
from towpath.assets.removal import delete
from towpath.assets.sender import Sender
from towpath.assets.slice import attach
from towpath.assets.sniffing import MEDIA
from towpath.assets.streamed import receive

__all__ = [
    "MEDIA",
    "Arrival",
    "Asset",
    "AssetNotFound",
    "AssetRefused",
    "Decoding",
    "Limits",
    "MediaInfo",
    "MediaUnreadable",
    "Misplaced",
    "Sender",
    "Upload",
    "Usage",
    "attach",
    "decode",
    "delete",
    "get",
    "get_all",
    "get_of_any_tenant",
    "on_upload",
    "open_file",
    "probe",
    "receive",
    "usage",
]
