"""Documents: files, addresses and buckets become text with pages that can be searched, step by step, and a crash loses no
step that is done.

`attach(app)` brings the tables, the operations and the routes; `add_step` adds a step of one's own to what is done with each
document, and `http_step` makes one of a service at some address; `create` makes a run.
"""

from towpath.documents.intake import Given, Owner, Wanted, create
from towpath.documents.pipeline import add_step
from towpath.documents.records import Document
from towpath.documents.remote import HttpStep, http_step
from towpath.documents.slice import attach
from towpath.documents.work import Work

__all__ = ["Document", "Given", "HttpStep", "Owner", "Wanted", "Work", "add_step", "attach", "create", "http_step"]
