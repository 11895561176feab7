"""Resumable uploads: a file comes in pieces, over hours and through restarts, and is handed over when it is whole.

Every piece is a blob of its own until then, so any server can take the next one, and any blob store will do. How far an
upload has come is one number in the database, which moves by compare-and-set: of two requests that go on from the same
place one wins, and the other is told where things stand.
"""

from towpath.assets.uploads.appending import Misplaced, append
from towpath.assets.uploads.creating import Wanted, create, find
from towpath.assets.uploads.finishing import finish

__all__ = ["Misplaced", "Wanted", "append", "create", "find", "finish"]
