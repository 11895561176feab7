"""Who listens, arranged so that a message finds its listeners without asking each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from towpath.engine.asking.deltas import Place
from towpath.push.mailbox import Mailbox
from towpath.push.messages import Message
from towpath.push.wanted import Wanted


@dataclass(eq=False, slots=True)
class Seat:
    """One stream's place among the listeners: it gets everything it wants from `start` on."""

    wanted: Wanted
    start: Place
    mailbox: Mailbox


@dataclass(slots=True)
class Seats:
    everything: set[Seat] = field(default_factory=set)
    by_tenant: dict[str, set[Seat]] = field(default_factory=dict)
    by_job: dict[str, set[Seat]] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(len(group) for group in self._groups())

    def __iter__(self) -> Iterator[Seat]:
        return (seat for group in self._groups() for seat in list(group))

    def _groups(self) -> list[set[Seat]]:
        return [self.everything, *self.by_tenant.values(), *self.by_job.values()]

    def add(self, seat: Seat) -> None:
        self._shelf(seat.wanted).add(seat)

    def remove(self, seat: Seat) -> None:
        self._shelf(seat.wanted).discard(seat)
        for shelf, key in ((self.by_job, seat.wanted.job_id), (self.by_tenant, seat.wanted.tenant)):
            if key is not None and not shelf.get(key, True):
                del shelf[key]

    def _shelf(self, wanted: Wanted) -> set[Seat]:
        if wanted.job_id is not None:
            return self.by_job.setdefault(wanted.job_id, set())
        if wanted.tenant is not None:
            return self.by_tenant.setdefault(wanted.tenant, set())
        return self.everything

    def any_wants(self, kind: str, tenant: str | None, about: str) -> bool:
        return any(seat.wanted.takes(kind, tenant, about) for seat in self._near(tenant, about))

    def for_message(self, message: Message) -> list[Seat]:
        near = self._near(message.tenant, message.about)
        return [seat for seat in near if seat.wanted.takes(message.kind, message.tenant, message.about)]

    def _near(self, tenant: str | None, job_id: str) -> Iterator[Seat]:
        for group in (self.everything, self.by_tenant.get(tenant or "", ()), self.by_job.get(job_id, ())):
            yield from group

    def jobs_only(self) -> frozenset[str] | None:
        """The jobs that are listened to, if nobody listens to more than single jobs."""
        return None if self.everything or self.by_tenant else frozenset(self.by_job)
