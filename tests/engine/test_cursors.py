"""Where a worker looks for its next jobs, on a store that only remembers what it was asked."""

from dataclasses import dataclass, field

from towpath.engine.running.claims import QueueClaims
from towpath.store.contract import EVERYWHERE, Claim, Claimed, ClaimedBatch

A_TURN = 0.25


@dataclass
class Store:
    """Answers what it is told to."""

    answers: list[list[Claimed]] = field(default_factory=list)
    asked: list[Claim] = field(default_factory=list)
    floors: dict[int, float] = field(default_factory=dict)
    writes: int = 0

    async def claim(self, claim: Claim) -> ClaimedBatch:
        self.asked.append(claim)
        jobs = self.answers.pop(0)
        return ClaimedBatch("q", [(j.id, "op", "t", j.priority, j.pass_, j.attempt, 3, "null", None) for j in jobs])

    async def advance(self, queue: str, floors: dict[int, float]) -> dict[int, float]:
        self.writes += 1
        self.floors = {band: max(floor, self.floors.get(band, 0.0)) for band, floor in floors.items()}
        return self.floors


class Looking:
    def __init__(self) -> None:
        self.now, self.store = 0.0, Store()
        self.claims = QueueClaims(self.store, "q", clock=lambda: self.now)

    async def claim(self, *jobs: Claimed) -> Claim:
        """Claims these, lets a turn pass, and answers what the store was asked."""
        self.store.answers.append(list(jobs))
        await self.claims.claim(1000, "w", 30.0)
        self.now += A_TURN
        await self.claims.advance()
        return self.store.asked[-1]


def job(number: int, pass_: float) -> Claimed:
    return Claimed("q", f"{number:08}", "op", "t", 1, pass_, 1, 3, "null", "t", f"{number:08}")


async def test_the_first_look_is_everywhere_and_so_is_one_every_second():
    looking = Looking()
    asked = [await looking.claim(job(number, float(number))) for number in range(1, 13)]
    sweeps = [number for number, claim in enumerate(asked) if claim.cursors is EVERYWHERE]
    assert sweeps == [0, 4, 8]


async def test_a_cursor_is_the_floor_of_one_turn_ago():
    looking = Looking()
    for number in range(1, 6):
        await looking.claim(job(number, float(number)))
    asked = await looking.claim(job(6, 6.0))
    assert asked.cursors[1] == 4.0
    assert asked.after == {}


async def test_among_very_many_jobs_of_one_pass_the_cursor_moves_by_id():
    looking = Looking()
    plateau = [[job(number, 7.0) for number in range(start, start + 200)] for start in range(0, 2000, 200)]
    asked = [await looking.claim(*jobs) for jobs in plateau]
    assert looking.store.writes == 1  # the floor is the same all along
    inside = [claim for claim in asked if claim.cursors is not EVERYWHERE]
    assert inside[0].after == {}  # nobody would look for what comes back to a short plateau
    last = int(inside[-1].after[1])
    assert inside[-1].cursors[1] == 7.0
    assert 1000 <= last < 1800  # where claims were one turn ago, not where they are
    await looking.claim(job(2001, 8.0))
    await looking.claim(job(2002, 9.0))
    assert (await looking.claim(job(2003, 10.0))).after == {}


async def test_nothing_is_known_about_a_pass_that_another_worker_has_reached():
    looking = Looking()
    looking.store.floors = {1: 50.0}
    for start in range(0, 1600, 200):
        asked = await looking.claim(*(job(number, 7.0) for number in range(start, start + 200)))
    assert asked.after == {}
