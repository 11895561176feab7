"""Groups of the inbox that were dismissed. Their jobs stay failed; a group is back as soon as one more of it fails."""

from towpath.server.dismissals.slice import attach
from towpath.server.dismissals.stored import Dismissed, dismiss, dismissed, restore

__all__ = ["Dismissed", "attach", "dismiss", "dismissed", "restore"]
