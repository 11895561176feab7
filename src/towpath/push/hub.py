"""One reader per process for all its streams: it reads each event once, however many listen, and nothing while nobody does.

A stream joins between two deltas, and only after a read that began when it was there already. So what it was told
before, by whichever process, is behind the place where it joins: between its own place and that one it reads by itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress

from towpath.core.errors import StoreUnavailable
from towpath.engine.asking.deltas import Deltas, Place
from towpath.engine.projections import Project
from towpath.http.problems import RETRY_AFTER, Problem
from towpath.push.composing import Composer, Describe
from towpath.push.ending import Ending
from towpath.push.judging import Judge
from towpath.push.limits import Limits
from towpath.push.mailbox import Mailbox
from towpath.push.messages import Message
from towpath.push.products import Products
from towpath.push.seats import Seat, Seats
from towpath.push.stopping import server_is_stopping
from towpath.push.wanted import Wanted
from towpath.store.contract import Store

log = logging.getLogger("towpath.push")

_AFTER_A_FAILURE = 1.0
_READ_BY_THEMSELVES = 3
_MANY_ROUNDS = 20
_LATER = {"Retry-After": str(RETRY_AFTER)}
_SHUTTING_DOWN = "the server is shutting down; it takes no new streams"
Arrival = tuple[Wanted, Ending, "asyncio.Future[Seat]"]


class Hub:
    def __init__(
        self,
        store: Store,
        describe: Describe,
        limits: Limits | None = None,
        projections: Mapping[str, Project] | None = None,
    ) -> None:
        self.store = store
        self.limits = limits or Limits()
        self.reads = 0
        """How many times the database was asked."""
        self.reading = asyncio.Semaphore(_READ_BY_THEMSELVES)
        """For streams that read what they have missed: after a restart they all come at once."""
        self.judge = Judge(store, self.limits.glance)
        self._describe = describe
        self._products = Products(projections or {}, self.limits)
        self._deltas: Deltas | None = None
        self._open: set[Ending] = set()
        self._seats = Seats()
        self._arriving: list[Arrival] = []
        self._place: Place | None = None
        self._resting = False
        self._wake = asyncio.Event()
        self._read_at = float("-inf")
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    async def deltas(self) -> Deltas:
        if self._deltas is None:
            self._deltas = await Deltas.of(self.store)
        return self._deltas

    async def composer(self) -> Composer:
        return Composer(self.store, await self.deltas(), self._describe, self._products)

    @property
    def listeners(self) -> int:
        return len(self._seats)

    @property
    def running(self) -> bool:
        return self._task is not None

    @property
    def place_at_rest(self) -> Place | None:
        """What has been handed out so far; None while handing out, because some have it and others do not."""
        return self._place if self._resting else None

    # -- coming and going

    def enter(self, account: str) -> Ending:
        """Counts a stream in; whoever calls this calls `exit` when it is over."""
        if self._stopped:
            raise Problem("unavailable", 503, _SHUTTING_DOWN, remedy="come back in a moment", headers=_LATER)
        theirs = sum(ending.account == account for ending in self._open)
        if len(self._open) >= self.limits.streams or theirs >= self.limits.streams_each:
            raise Problem(
                "throttled", 429, f"there are {theirs} open streams of this account, and no room for more",
                remedy="close some; one stream per program or browser tab is enough", headers=_LATER,
            )  # fmt: skip
        ending = Ending(account)
        self._open.add(ending)
        return ending

    def exit(self, ending: Ending) -> None:
        self._open.discard(ending)

    async def join(self, wanted: Wanted, ending: Ending) -> Seat:
        """From the next place between two deltas on, everything that is wanted goes into the seat's mailbox."""
        arrival: asyncio.Future[Seat] = asyncio.get_running_loop().create_future()
        self._arriving.append((wanted, ending, arrival))
        self._wake.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="towpath-push")
        try:
            async with asyncio.timeout(self.limits.joining):
                return await asyncio.shield(arrival)
        except BaseException as error:
            if arrival.done() and not arrival.cancelled() and arrival.exception() is None:
                self.leave(arrival.result())
            arrival.cancel()
            if isinstance(error, TimeoutError):
                raise StoreUnavailable("the stream of events could not be read in time; try again") from None
            raise

    def leave(self, seat: Seat) -> None:
        self._seats.remove(seat)
        if not self._seats:
            self._wake.set()

    def end_streams(self) -> None:
        """Says goodbye to everybody, and lets nobody in any more. The clients come back when a server is there again."""
        self._stopped = True
        for ending in self._open:
            ending.call("shutdown")

    async def stop(self) -> None:
        """Ends the streams and the reader; may be called twice."""
        self.end_streams()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        for _, _, arrival in self._arriving:
            if not arrival.done():
                arrival.set_exception(StoreUnavailable(_SHUTTING_DOWN))
        self._arriving.clear()

    # -- reading

    async def _run(self) -> None:
        listening = asyncio.create_task(self._listen(), name="towpath-push-bell")
        try:
            while self._arriving or self._seats:
                try:
                    await self._turn()
                except Exception as error:
                    log.warning("the stream of events cannot be read, trying again: %s", error)
                    await asyncio.sleep(_AFTER_A_FAILURE)
        finally:
            listening.cancel()
            self._task = self._place = None
            self._resting = False

    async def _listen(self) -> None:
        async for _ in self.store.follow():
            self._wake.set()
            if server_is_stopping():
                self.end_streams()

    async def _turn(self) -> None:
        arriving, self._arriving = self._arriving, []
        try:
            if self._place is not None and self._seats:
                await self._read_on(self._place)
            if self._place is None or not self._seats:  # nobody to read for, or those have gone meanwhile
                self._place = await (await self.deltas()).now()
        except BaseException:
            self._arriving = arriving + self._arriving
            raise
        self._resting = True
        self._admit(arriving, self._place)
        if not self._arriving:
            await self._rest()

    async def _read_on(self, place: Place) -> None:
        """Up to what has happened so far. `_place` follows step by step, so that a failure repeats nothing."""
        stream, composer = await self.deltas(), await self.composer()
        more = True
        while more:
            self.reads += 1
            self._read_at = asyncio.get_running_loop().time()
            page = await stream.page(place, limit=self.limits.page)
            self._resting = self._resting and not page.events
            async for batch in composer.compose(page, self._seats.any_wants, self._seats.jobs_only()):
                await self._hand_out(batch.messages)
                self._place = batch.end
            self._place = place = page.end
            more = page.more and bool(self._seats)

    def _admit(self, arriving: Iterable[Arrival], place: Place) -> None:
        for wanted, ending, arrival in arriving:
            if not arrival.done():
                seat = Seat(wanted, place, Mailbox(self.limits.mailbox, ending))
                self._seats.add(seat)
                arrival.set_result(seat)

    async def _hand_out(self, messages: Iterable[Message]) -> None:
        touched: set[Seat] = set()
        given = 0
        for message in messages:
            for seat in self._seats.for_message(message):
                seat.mailbox.put(message.data)
                touched.add(seat)
            given += len(message.data)
            if given > self.limits.mailbox // 4:
                await self._be_patient(touched)
                given = 0
        await self._be_patient(touched)

    async def _be_patient(self, touched: set[Seat]) -> None:
        """A burst must not end streams that are merely as fast as their network, or as this process. One that is stuck is
        waited for once; if many are behind it is us, and they get the time they need as long as they get on."""
        crowded = [seat.mailbox for seat in touched if not seat.mailbox.roomy.is_set() and not seat.mailbox.given_up]
        if not crowded:
            return
        rounds = _MANY_ROUNDS if 4 * len(crowded) > len(self._seats) else 1
        for _ in range(rounds):
            before = sum(mailbox.taken for mailbox in crowded)
            with suppress(TimeoutError):
                async with asyncio.timeout(self.limits.patience):
                    for mailbox in crowded:
                        await mailbox.roomy.wait()
                    return
            if sum(mailbox.taken for mailbox in crowded) == before:
                break
        for mailbox in crowded:
            mailbox.given_up = not mailbox.roomy.is_set()

    async def _rest(self) -> None:
        await self._wake.wait()
        self._wake.clear()
        left = self._read_at + self.limits.interval - asyncio.get_running_loop().time()
        if left > 0:
            await asyncio.sleep(left)
