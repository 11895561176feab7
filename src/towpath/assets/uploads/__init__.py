"""Uploads: a file comes, in one piece or in many, over hours and through restarts, and is handed over when it is whole.

Every piece is a blob of its own until then, so any server can take the next one, and any blob store will do. How far an
upload has come is one number in the database, which moves by compare-and-set: of two requests that go on from the same
place one wins, and the other is told where things stand. The last piece brings a job along that does the rest.
"""

from towpath.assets.uploads.appending import Appended, append
from towpath.assets.uploads.creating import Wanted, create, find
from towpath.assets.uploads.ending import ended
from towpath.assets.uploads.finishing import QUEUE, being_finished, failed_job, unfinished
from towpath.assets.uploads.submitting import Submitted, submit

__all__ = [
    "QUEUE",
    "Appended",
    "Submitted",
    "Wanted",
    "append",
    "being_finished",
    "create",
    "ended",
    "failed_job",
    "find",
    "submit",
    "unfinished",
]
