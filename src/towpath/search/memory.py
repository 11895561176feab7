"""Vectors of one tenant in this process's memory, compared with a question one by one: exact, and fast enough for a
million.

What is here is compared with the database before every question, by what `search_vectors_state` tells, so what another
process has committed is seen. Only what has changed is loaded.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from towpath import App, Reading, from_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

_AT_ONCE = 2000
_MOST_BYTES = 1 << 29


@dataclass(frozen=True, slots=True)
class Place:
    """A passage by where its vector is: in which row of vectors, and at which place there."""

    vectors: int
    ordinal: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Near:
    """A passage by its number."""

    number: int
    similarity: float


class Matrix:
    """The rows of one tenant and model. It grows at its end; rows that are gone are skipped until they are half of it."""

    def __init__(self, dimensions: int) -> None:
        import numpy as np

        self._rows: Rows = np.zeros((0, dimensions), dtype=np.float32)
        self._owners = np.zeros((0, 3), dtype=np.int64)  # of each row: its vectors' number, its ordinal, its source
        self._alive = np.zeros(0, dtype=bool)
        self._used = 0
        self.known: set[int] = set()
        self.seen: tuple[Any, Any] | None = None
        self.lock = asyncio.Lock()

    @property
    def size(self) -> int:
        return self._rows.nbytes

    def add(self, number: int, source: int, packed: bytes) -> None:
        import numpy as np

        if number in self.known:
            return
        new = np.frombuffer(packed, dtype="<f2").reshape(-1, self._rows.shape[1])
        begin, end = self._used, self._used + len(new)
        self._make_room(end)
        self._rows[begin:end] = new
        self._owners[begin:end, 0], self._owners[begin:end, 2] = number, source
        self._owners[begin:end, 1] = np.arange(len(new))
        self._alive[begin:end] = new.any(axis=1)  # what says nothing is near to nothing
        self._used = end
        self.known.add(number)

    def keep(self, numbers: set[int]) -> None:
        """Takes away the rows of all others."""
        import numpy as np

        gone = self.known - numbers
        if not gone:
            return
        self._alive[: self._used] &= ~np.isin(self._owners[: self._used, 0], np.fromiter(gone, dtype=np.int64))
        self.known -= gone
        if 2 * np.count_nonzero(self._alive) < self._used:
            self._close_gaps()

    def nearest(self, asked: Rows, sources: list[int] | None, most: int) -> list[Place]:
        import numpy as np

        rows, owners = self._rows[: self._used], self._owners[: self._used]
        wanted = self._alive[: self._used]
        if sources is not None:
            wanted = wanted & np.isin(owners[:, 2], np.asarray(sources, dtype=np.int64))
        scores = np.where(wanted, rows @ asked, -np.inf)
        best = np.argpartition(-scores, most)[:most] if len(scores) > most else np.arange(len(scores))
        best = best[np.argsort(-scores[best], kind="stable")]
        return [Place(int(owners[at, 0]), int(owners[at, 1]), float(scores[at])) for at in best if np.isfinite(scores[at])]

    def _make_room(self, end: int) -> None:
        import numpy as np

        if end <= len(self._rows):
            return
        size = max(end, 2 * len(self._rows), 256)
        for name in ("_rows", "_owners", "_alive"):
            old = getattr(self, name)
            new = np.zeros((size, *old.shape[1:]), dtype=old.dtype)
            new[: self._used] = old[: self._used]
            setattr(self, name, new)

    def _close_gaps(self) -> None:
        alive = self._alive[: self._used].copy()
        self._rows, self._owners = self._rows[: self._used][alive], self._owners[: self._used][alive]
        self._alive = self._alive[: self._used][alive]
        self._used = len(self._rows)


class Memory:
    """Kept on an app: a matrix for each tenant that asked lately."""

    def __init__(self) -> None:
        self._matrices: OrderedDict[tuple[str, str], Matrix] = OrderedDict()

    async def nearest(
        self, app: App, tenant: str, model: str, asked: Rows, sources: list[int] | None, most: int
    ) -> list[Place]:
        matrix = self._matrix(tenant, model, len(asked))
        async with matrix.lock:  # one question of a tenant at a time: rows must not move while they are compared
            await self._refresh(app, matrix, tenant, model)
            return await asyncio.to_thread(matrix.nearest, asked, sources, most)

    def _matrix(self, tenant: str, model: str, dimensions: int) -> Matrix:
        key = (tenant, model)
        matrix = self._matrices.pop(key, None) or Matrix(dimensions)
        self._matrices[key] = matrix
        while len(self._matrices) > 1 and sum(one.size for one in self._matrices.values()) > _MOST_BYTES:
            self._matrices.popitem(last=False)
        return matrix

    async def _refresh(self, app: App, matrix: Matrix, tenant: str, model: str) -> None:
        async def unit(now: Reading) -> tuple[tuple[Any, Any], set[int] | None]:
            [row] = await now.query("search_vectors_state", tenant=tenant, model=model)
            state = (row["counted"], row["newest"])
            if state == matrix.seen:
                return state, None
            [row] = await now.query("search_vectors_listed", tenant=tenant, model=model)
            return state, set(from_json(row["numbers"] or "[]"))

        state, numbers = await app.read(unit)
        if numbers is None:
            return
        await asyncio.to_thread(matrix.keep, numbers)
        missing = sorted(numbers - matrix.known)
        for at in range(0, len(missing), _AT_ONCE):
            for row in await app.query("search_vectors_by_number", numbers=missing[at : at + _AT_ONCE]):
                matrix.add(row["number"], row["source"], row["packed"])
        matrix.seen = state if matrix.known == numbers else None  # what went away in between is noticed the next time
