"""The push stream: one reader per process, any number of listeners. See docs/decisions/0013-the-push-stream.md."""

from towpath.push.hub import Hub
from towpath.push.limits import Limits
from towpath.push.response import EventStream
from towpath.push.wanted import Wanted

__all__ = ["EventStream", "Hub", "Limits", "Wanted"]
