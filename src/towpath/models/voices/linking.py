"""Which stretches of a recording are one person's: those whose prints lie together.

Prints are weighed by how much they vary within a stretch, which one person speaks, and looked at along the directions in
which stretches differ the most. Then the two groups that are nearest become one, again and again, until the nearest two are
further apart than one voice's would be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from towpath.models.voices.prints import kind_of, packed, unpacked
from towpath.models.voices.traits import usual_variances

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

_DIRECTIONS = 8
_PLACE = "place"
_USUAL_COUNTS = 20
"""The usual variances count like so many prints of the recording itself."""
_APART = {"traits": 80.0, "encoder": 90.0}
"""Groups that are further from each other are two people."""
_ENCODER_VARIANCE, _ENCODER_DIRECTIONS = 0.06, 30
_AT_ONCE = 400
"""Groups that are compared each with each. A day of talk is joined in parts first."""
_HEAVIEST = 8.0
"""A group of more counts like this: however long somebody speaks, one voice has only so many moods."""
_SHORT = 2.5
"""Seconds. What is shorter joins a group and makes none, unless most of what is said is shorter."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What one person says without a break. Those with the same `same` are known to be one person's."""

    seconds: float
    print: str | None
    same: object = None


@dataclass(frozen=True, slots=True)
class Linked:
    people: list[int | None]
    """Of each stretch a number, in the order in which people are first heard; None if there is no print of it."""
    places: list[str | None]
    """Where its print lies among the others', so that a group can be divided later."""


def linked(stretches: Sequence[Stretch]) -> Linked:
    """Over a whole recording, in order of time. Prints of another kind than the first are left out."""
    kind = next((kind_of(one.print) for one in stretches if one.print), "")
    rows = {
        number: unpacked(one.print)
        for number, one in enumerate(stretches)
        if one.print and kind_of(one.print) == kind and kind in _APART
    }
    if not rows:
        return Linked([None] * len(stretches), [None] * len(stretches))
    space = _Space(list(rows.values()), kind)
    points = dict(zip(rows, space.points, strict=True))
    groups = _known_groups(stretches, points, {number: len(found) for number, found in rows.items()})
    short = min(_SHORT, median(group.seconds for group in groups))
    long = [group for group in groups if group.seconds >= short]
    people = _joined(long, _APART[kind])
    for group in groups:
        if group not in long:
            _nearest(group, people).members.extend(group.members)
    return Linked(
        _numbered(people, len(stretches)),
        [packed(_PLACE, [points[number]]) if number in points else None for number in range(len(stretches))],
    )


def divided(places: Sequence[str]) -> list[bool]:
    """Whether each of these stretches, by their places, is on the other side when they are divided in two."""
    import numpy as np

    groups = [_Group(unpacked(place)[0], 1.0, 1.0, [number]) for number, place in enumerate(places)]
    halves = _joined(groups, np.inf, fewest=2)
    other = set(halves[-1].members) if len(halves) > 1 else set()
    return [number in other for number in range(len(places))]


class _Space:
    """Where stretches lie as points."""

    def __init__(self, rows: Sequence[Rows], kind: str) -> None:
        import numpy as np

        every = np.concatenate(rows)
        means = np.stack([part.mean(axis=0) for part in rows]) - every.mean(axis=0)
        within = np.concatenate([part - part.mean(axis=0) for part in rows if len(part) > 1] or [every[:0]])
        if kind == "encoder":
            _, _, axes = np.linalg.svd(every - every.mean(axis=0), full_matrices=False)
            axes = axes[:_ENCODER_DIRECTIONS].T
            means, within = means @ axes, within @ axes
            usual = np.full(axes.shape[1], _ENCODER_VARIANCE / _ENCODER_DIRECTIONS, dtype=np.float32)
        else:
            usual = usual_variances()[: every.shape[1]]
        spread = (within.T @ within + _USUAL_COUNTS * np.diag(usual)) / (len(within) + _USUAL_COUNTS)
        points = means @ np.linalg.cholesky(np.linalg.inv(spread))
        weights = np.array([[len(part)] for part in rows], dtype=np.float32)
        points = points - (points * weights).sum(axis=0) / weights.sum()
        _, directions = np.linalg.eigh((points * weights).T @ points)
        self.points = points @ directions[:, ::-1][:, :_DIRECTIONS]


@dataclass(slots=True, eq=False)
class _Group:
    point: Any
    weight: float
    seconds: float
    members: list[int]


def _known_groups(stretches: Sequence[Stretch], points: dict[int, Any], counts: dict[int, int]) -> list[_Group]:
    found: dict[object, _Group] = {}
    for number, point in points.items():
        one = stretches[number]
        # A long stretch says more than a short one, though not as much as its length: a person has moods.
        group = _Group(point, counts[number] / (1 + counts[number]), one.seconds, [number])
        key = (number,) if one.same is None else ("same", one.same)
        found[key] = _together(found[key], group) if key in found else group
    return list(found.values())


def _together(one: _Group, other: _Group) -> _Group:
    weight = one.weight + other.weight
    point = (one.point * one.weight + other.point * other.weight) / weight
    return _Group(point, weight, one.seconds + other.seconds, one.members + other.members)


def _joined(groups: Sequence[_Group], apart: float, fewest: int = 1) -> list[_Group]:
    while len(groups) > _AT_ONCE:
        parts = [groups[at : at + _AT_ONCE] for at in range(0, len(groups), _AT_ONCE)]
        shorter = [group for part in parts for group in _join(part, apart, max(fewest, len(part) // 4))]
        if len(shorter) == len(groups):
            break
        groups = shorter
    return _join(groups, apart, fewest)


def _join(groups: Sequence[_Group], apart: float, fewest: int) -> list[_Group]:
    """By Ward's rule: what is joined is what makes the groups least wider."""
    import numpy as np

    alive = list(groups)
    if len(alive) < 2:
        return alive
    points, weights = np.stack([group.point for group in alive]), np.array([group.weight for group in alive])
    costs = _costs(points, weights)
    left = set(range(len(alive)))
    while len(left) > fewest:
        one, other = (int(place) for place in np.unravel_index(int(costs.argmin()), costs.shape))
        if costs[one, other] > apart:
            break
        alive[one] = _together(alive[one], alive[other])
        points[one], weights[one] = alive[one].point, alive[one].weight
        left.discard(other)
        costs[other, :] = costs[:, other] = np.inf
        rest = sorted(left - {one})
        apart_from = ((points[rest] - points[one]) ** 2).sum(axis=1)
        costs[one, rest] = costs[rest, one] = apart_from * _shared(weights[rest], weights[one])
    return [alive[place] for place in sorted(left)]


def _costs(points: Any, weights: Any) -> Any:
    import numpy as np

    squares = (points**2).sum(axis=1)
    distances = np.maximum(0.0, squares[:, None] + squares[None, :] - 2 * points @ points.T)
    costs = distances * _shared(weights[:, None], weights[None, :])
    np.fill_diagonal(costs, np.inf)
    return costs


def _shared(one: Any, other: Any) -> Any:
    """How much a distance between two groups counts."""
    import numpy as np

    one, other = np.minimum(one, _HEAVIEST), np.minimum(other, _HEAVIEST)
    return one * other / (one + other)


def _nearest(group: _Group, people: Sequence[_Group]) -> _Group:
    return min(people, key=lambda other: float(((other.point - group.point) ** 2).sum()))


def _numbered(people: Sequence[_Group], count: int) -> list[int | None]:
    found: list[int | None] = [None] * count
    for number, group in enumerate(sorted(people, key=lambda one: min(one.members)), 1):
        for member in group.members:
            found[member] = number
    return found
