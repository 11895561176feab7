"""Outgoing webhooks: a tenant hears of its jobs' endings.

`stored` is where webhooks are made and changed, `dispatching` turns endings into deliveries, `delivering` is the operation
that sends one. Deliveries are jobs like any other: they are retried, explained, cancelled and requeued like them.
"""

from towpath.server.webhooks.dispatching import Dispatcher, dispatcher
from towpath.server.webhooks.slice import attach

__all__ = ["Dispatcher", "attach", "dispatcher"]
