"""Sending files and following them to their end, with a bar for each; what is not a terminal gets lines."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from towpath.blobs import BlobError
from towpath.cli.screen import clean, console, is_live, one_line
from towpath.cli.transcribing.place import FileOptions, Look, Place, digest_of
from towpath.cli.words import playing_time
from towpath.core.errors import TowpathError

_LOOK_EVERY = 0.25
_WORDS = {
    "PENDING": "waiting", "PROCESSING": "transcribing", "SUMMARIZING": "summarising", "COMPLETED": "done",
    "FAILED": "failed", "CANCELLED": "cancelled",
}  # fmt: skip


@dataclass(slots=True)
class Outcome:
    path: Path
    recording_id: str | None = None
    error: str | None = None
    warning: str | None = None
    written: list[Path] = field(default_factory=list)
    ended: bool = False


Finish = Callable[[Outcome], Awaitable[None]]


async def follow(
    place: Place, paths: Sequence[Path], wishes: FileOptions, finish: Finish, *, known: Mapping[Path, str], again: bool
) -> list[Outcome]:
    """Sends the files one after the other while those before are worked on; `finish` is called for each that is done.

    What is there already is not sent: those `known` by their recordings, and unless they are to be done `again`, those
    that the place knows.
    """
    outcomes = [Outcome(path, known.get(path)) for path in paths]
    with _screen(outcomes) as screen:
        sending = asyncio.create_task(_send_all(place, outcomes, wishes, screen, again))
        try:
            await _until_all_ended(place, outcomes, sending, screen, finish)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
    return outcomes


async def _send_all(place: Place, outcomes: list[Outcome], wishes: FileOptions, screen: Screen, again: bool) -> None:
    for outcome in [one for one in outcomes if one.recording_id is None]:
        screen.say(outcome, Look("", word="reading"))
        try:
            outcome.recording_id = await _hand_over(place, outcome.path, wishes, again)
        except (TowpathError, BlobError, OSError) as error:
            remedy = getattr(error, "remedy", None)
            outcome.error = f"{error}; {remedy}" if remedy else str(error)
            screen.say(outcome, Look("FAILED", error=outcome.error))


async def _hand_over(place: Place, path: Path, wishes: FileOptions, again: bool) -> str:
    found = None if again else await place.find(await digest_of(path), wishes)
    if found is None:
        return await place.send(path, wishes)
    await place.take_up(found)
    return found


async def _until_all_ended(
    place: Place, outcomes: list[Outcome], sending: asyncio.Task[None], screen: Screen, finish: Finish
) -> None:
    while True:
        all_sent = sending.done()
        if all_sent:
            sending.result()
        open_ones = [(one, one.recording_id) for one in outcomes if one.recording_id and not one.ended]
        looks = await place.look(sorted({recording_id for _, recording_id in open_ones})) if open_ones else {}
        for outcome, look in [(one, looks[recording_id]) for one, recording_id in open_ones if recording_id in looks]:
            screen.say(outcome, look)
            if look.ended:
                await _end(outcome, look, finish)
        if all_sent and all(one.error is not None or one.ended for one in outcomes):
            return
        await asyncio.sleep(_LOOK_EVERY)


async def _end(outcome: Outcome, look: Look, finish: Finish) -> None:
    outcome.ended = True
    outcome.error = _error_of(look)
    outcome.warning = look.word or None
    if outcome.error is None:
        await finish(outcome)


def _error_of(look: Look) -> str | None:
    match look.status:
        case "FAILED":
            return look.error or "it failed, and its job is gone"
        case "CANCELLED":
            return "it was cancelled"
    return None


class Screen:
    """One line for each change of status. Why a file failed is told once, at the end, by the command."""

    def __init__(self) -> None:
        self._console = console()
        self._said: dict[Path, str] = {}

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_: object) -> None: ...

    def say(self, outcome: Outcome, look: Look) -> None:
        word = _WORDS.get(look.status, look.word)
        if self._said.get(outcome.path) == word:
            return
        self._said[outcome.path] = word
        tail = f": {one_line(look.word)}" if look.status and look.word and not look.error else ""
        self._console.print(f"{clean(outcome.path.name)} {word}{tail}")


class Bars(Screen):
    """A bar for each file, in seconds of audio."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        super().__init__()
        columns = (
            SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), _Seconds(),
            TextColumn("{task.fields[word]}", markup=False), TimeElapsedColumn(),
        )  # fmt: skip
        self._bars = Progress(*columns, console=self._console, refresh_per_second=8)
        self._tasks = {
            one.path: self._bars.add_task(clean(one.path.name), total=None, word="waiting", start=False) for one in outcomes
        }

    def __enter__(self) -> Screen:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def say(self, outcome: Outcome, look: Look) -> None:
        number = self._tasks[outcome.path]
        if look.status not in ("", "PENDING"):
            self._bars.start_task(number) if self._bars.tasks[number].start_time is None else None
        word = _WORDS.get(look.status, look.word)
        total = 1.0 if look.ended and not look.total else look.total  # a bar without a total moves for ever
        self._bars.update(number, completed=look.current, total=total, word=word)
        if look.ended:
            self._bars.stop_task(number)


class _Seconds(ProgressColumn):
    def render(self, task: Task) -> Text:
        known = task.total is not None and (task.total > 1.0 or task.completed > 0)
        return Text(f"{playing_time(task.completed)} / {playing_time(task.total)}" if known else "")


def _screen(outcomes: Sequence[Outcome]) -> Screen:
    return Bars(outcomes) if is_live() else Screen()
