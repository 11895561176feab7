"""Fleet: objects come in from buckets, and workers that have neither database nor credentials work on them.

`attach(app)` brings the tables, the operation that hands tasks out and the routes; `remote_operation` adds something that
remote workers can do, where they run.
"""

from towpath.fleet.node.operations import RemoteContext, remote_operation
from towpath.fleet.slice import attach

__all__ = ["RemoteContext", "attach", "remote_operation"]
