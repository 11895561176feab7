"""The push stream: one reader per process, any number of listeners. See docs/decisions/0013-the-push-stream.md."""

from towpath.http.push.hub import Hub
from towpath.http.push.limits import Limits
from towpath.http.push.response import EventStream
from towpath.http.push.wanted import Wanted

__all__ = ["EventStream", "Hub", "Limits", "Wanted"]
