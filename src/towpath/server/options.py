"""How a server is set up, besides what the app's settings say."""

from __future__ import annotations

from dataclasses import dataclass, field

from towpath.push import Limits


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """`local` is the mode without passwords: only for a server that is bound to loopback.

    `ui=False` leaves the web UI out, for those who want the API only. `base_path` is where a proxy has put the server, if
    it does not pass that part of the path on; empty takes the setting of that name. `streams` are the
    limits of push streams.
    """

    local: bool = False
    ui: bool = True
    base_path: str = ""
    streams: Limits = field(default_factory=Limits)
