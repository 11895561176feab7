"""How fast this installation is: learned from every window that is heard, every recording that is begun and closed.

What is old counts less and less. Speeds are of one slot, whatever else runs beside it.
"""

from __future__ import annotations

from collections.abc import Iterable

from towpath import App, Row, Settings, Transaction, Work, choices
from towpath.models.speeds import usual_speed
from towpath.recordings import estimating
from towpath.recordings.estimating import Pace, Speeds
from towpath.recordings.names import WITH_SPEAKERS
from towpath.recordings.stored import Source

BEGINNING, CLOSING = "(beginning)", "(closing)"
SUMMARIES = "(summaries)"
_NO_ENGINES = frozenset({BEGINNING, CLOSING, SUMMARIES})
_KEEP = 0.85
_USUAL_SUMMARIES = 2.0
"""A second, of those made of the transcript's own sentences."""


async def learn(tx: Transaction, what: str, amount: float, wall: float) -> None:
    """`what` is an engine's name, and the amount seconds of audio; of the others here it is how many there were."""
    if amount > 0 and wall > 0:
        await tx.change("recording_speed_learn", engine=what, audio=amount, wall=wall, keep=_KEEP)


async def learn_beginning(source: Source, seconds: float, wall: float) -> None:
    """What a recording of this length took until it was cut into windows, without what decoding takes at its usual pace."""
    await learn_alone(source, BEGINNING, 1.0, max(0.01, wall - seconds / estimating.DECODING))


async def learn_alone(source: Source, what: str, amount: float, wall: float) -> None:
    await source.transact(lambda tx: learn(tx, what, amount, wall))


async def speeds_of(app: App) -> Speeds:
    """As measured lately; what was never measured is what the models are known for."""
    rows = await app.query("recording_speed")
    settings = await choices.settings_of(app)
    heard = [row for row in rows if row["engine"] not in _NO_ENGINES]
    plain, speakers = (
        _pace([row for row in heard if row["engine"].endswith(WITH_SPEAKERS) is told], settings, speakers=told)
        for told in (False, True)
    )
    names = {BEGINNING: "beginning", CLOSING: "closing"}
    known = {names[row["engine"]]: row["wall_seconds"] / row["audio_seconds"] for row in rows if row["engine"] in names}
    return Speeds(plain, speakers, summary=_of_summaries(settings, rows), **known)


async def measured(app: App) -> dict[str, float]:
    """Seconds of audio that one slot has heard here in a second, by the engine's name, without telling speakers apart."""
    rows = await app.query("recording_speed")
    return {
        row["engine"]: row["audio_seconds"] / row["wall_seconds"]
        for row in rows
        if row["engine"] not in _NO_ENGINES and not row["engine"].endswith(WITH_SPEAKERS) and row["wall_seconds"] > 0
    }


def _pace(rows: Iterable[Row], settings: Settings, *, speakers: bool) -> Pace | None:
    measured = _speed(rows)
    if measured is not None:
        return Pace(measured, Work.MEASURED)
    usual = usual_speed(settings, speakers=speakers)
    return None if usual is None else Pace(usual, Work.KNOWN)


def _of_summaries(settings: Settings, rows: Iterable[Row]) -> Pace | None:
    measured = _speed(row for row in rows if row["engine"] == SUMMARIES)
    if measured is not None:
        return Pace(measured, Work.MEASURED)
    return None if settings.chat_url else Pace(_USUAL_SUMMARIES, Work.KNOWN)


def _speed(rows: Iterable[Row]) -> float | None:
    return estimating.speed([(row["audio_seconds"], row["wall_seconds"]) for row in rows])
