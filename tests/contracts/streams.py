"""The stream of events by tokens alone, as `app.events` and everybody who comes back later reads it."""

from towpath.core.records import Event
from towpath.engine.asking.deltas import Deltas
from towpath.store.contract import Store


async def stream_start(store: Store) -> str:
    """The token of what has happened so far."""
    stream = await Deltas.of(store)
    return stream.token(await stream.now())


async def stream_since(store: Store, token: str, limit: int = 5000) -> tuple[list[Event], str, bool]:
    """One page after the token, each event with its own; the token to go on from, and whether there is more right away."""
    stream = await Deltas.of(store)
    page = await stream.page(await stream.place(token), limit=limit, whole=True)
    for event in page.events:
        event.token = stream.token(page.place_after(event))
    return page.events, stream.token(page.end), page.more
