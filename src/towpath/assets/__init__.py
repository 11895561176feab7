"""Assets: files that a tenant has uploaded, shared by every product.

They come in as a stream (`receive`), as a form (`receive_form`) or by resumable upload (`uploads`), lie in the blob store
under generated keys, and are handed to the product whose `purpose` they were sent for.
"""

from towpath.assets.attaching import attach
from towpath.assets.errors import AssetNotFound, AssetRefused, MediaUnreadable
from towpath.assets.files import open_file
from towpath.assets.forms import Form, receive_form
from towpath.assets.keeping import delete, get, usage
from towpath.assets.media import Limits, MediaInfo, decode, probe
from towpath.assets.purposes import checks, kinds_taken, receivers
from towpath.assets.receiving import receive
from towpath.assets.records import Asset, Upload, Usage
from towpath.assets.serving import content_response
from towpath.assets.sniffing import MEDIA
from towpath.assets.tidying import Keeper, tidy

__all__ = [
    "MEDIA",
    "Asset",
    "AssetNotFound",
    "AssetRefused",
    "Form",
    "Keeper",
    "Limits",
    "MediaInfo",
    "MediaUnreadable",
    "Upload",
    "Usage",
    "attach",
    "checks",
    "content_response",
    "decode",
    "delete",
    "get",
    "kinds_taken",
    "open_file",
    "probe",
    "receive",
    "receive_form",
    "receivers",
    "tidy",
    "usage",
]
