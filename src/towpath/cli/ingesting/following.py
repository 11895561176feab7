"""Following runs to their end: each document is told of once, when it is done; a terminal has a bar below."""

from __future__ import annotations

import asyncio

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from towpath.cli.ingesting.gathering import Gathered
from towpath.cli.ingesting.outcomes import DONE, KNOWN, Outcome
from towpath.cli.ingesting.place import RUN_ENDED, Place, Shape
from towpath.cli.ingesting.sending import Sent, Watched, Wishes, send_all
from towpath.cli.screen import clean, console, is_live, one_line
from towpath.outbound.sources import shown

_LOOK_EVERY = 0.25
_PAGE = 200


async def follow(place: Place, gathered: Gathered, wishes: Wishes, *, quiet: bool) -> list[Outcome]:
    """Sends everything, follows what is read meanwhile, and answers what became of each."""
    sent = Sent()
    with _screen(quiet) as screen:
        sending = asyncio.create_task(send_all(place, gathered, wishes, sent))
        try:
            await _until_all_ended(place, sent, sending, screen)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
    return sent.outcomes


async def _until_all_ended(place: Place, sent: Sent, sending: asyncio.Task[None], screen: Screen) -> None:
    while True:
        all_sent = sending.done()
        if all_sent:
            sending.result()
        for watched in [one for one in list(sent.runs.values()) if _is_open(one)]:
            try:
                await _look(place, watched, sent)
            except LookupError as error:  # the run was deleted meanwhile
                _give_up(watched, str(error))
        screen.show(sent)
        if all_sent and not any(_is_open(one) for one in sent.runs.values()):
            return
        await asyncio.sleep(_LOOK_EVERY)


def _is_open(watched: Watched) -> bool:
    whole = watched.whole is not None and not watched.whole.ended
    return whole or any(not one.ended for one in watched.by_number.values())


async def _look(place: Place, watched: Watched, sent: Sent) -> None:
    """First how the run is, then its items: of a run that has ended none is left out."""
    run = await place.run(watched.run_id)
    over = run["status"] in RUN_ENDED
    after = _before_first_open(watched)
    while page := await place.items(watched.run_id, after, _PAGE):
        news = [_told(one, watched, sent) for one in page]
        after = page[-1]["number"]
        if len(page) < _PAGE or not (over or any(news)):
            break
    if over:
        _close(watched, run)
    elif watched.whole is not None:
        watched.whole.status = run["waiting_for"] or run["status"].lower()


def _before_first_open(watched: Watched) -> int:
    if watched.whole is not None:
        ended = 0
        while ended in watched.by_number and watched.by_number[ended].ended:
            ended += 1
        return ended - 1
    return min((number for number, one in watched.by_number.items() if not one.ended), default=0) - 1


def _told(item: Shape, watched: Watched, sent: Sent) -> bool:
    """Whether it has just ended."""
    outcome = watched.by_number.get(item["number"])
    if outcome is None:
        if watched.whole is None:
            return False  # of an earlier command, of which only a part is asked for again
        outcome = watched.by_number[item["number"]] = sent.new(shown(item["source"]))
    if outcome.ended:
        return False
    outcome.look(item)
    return outcome.ended


def _close(watched: Watched, run: Shape) -> None:
    """What is still open in a run that has ended was never begun."""
    why = run["error"] or ("the run was cancelled" if run["status"] == "CANCELLED" else "it was not read")
    for one in watched.by_number.values():
        if not one.ended:
            one.fail(why)
    if watched.whole is not None:
        watched.whole.run_id = watched.run_id
        if watched.by_number or run["status"] == "COMPLETED":
            watched.whole.status = DONE  # its objects speak for themselves
        else:
            watched.whole.fail(why)


def _give_up(watched: Watched, why: str) -> None:
    for one in [*watched.by_number.values(), *([watched.whole] if watched.whole else [])]:
        if not one.ended:
            one.fail(why)


class Screen:
    """One line for each document that has ended."""

    def __init__(self) -> None:
        self._console = console()
        self._said: set[int] = set()

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_: object) -> None: ...

    def show(self, sent: Sent) -> None:
        for number, outcome in enumerate(sent.outcomes):
            if outcome.ended and number not in self._said:
                self._said.add(number)
                self._console.print(line_of(outcome))


class Silent(Screen):
    def show(self, sent: Sent) -> None: ...


class Bar(Screen):
    """The lines, and below them how many are done and what is being done."""

    def __init__(self) -> None:
        super().__init__()
        columns = (
            SpinnerColumn(), TextColumn("documents"), BarColumn(), MofNCompleteColumn(),
            TextColumn("{task.fields[word]}", markup=False), TimeElapsedColumn(),
        )  # fmt: skip
        self._bar = Progress(*columns, console=self._console, refresh_per_second=8)
        self._task = self._bar.add_task("documents", total=None, word="")

    def __enter__(self) -> Screen:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, sent: Sent) -> None:
        super().show(sent)
        ended = sum(one.ended for one in sent.outcomes)
        current = next((one for one in sent.outcomes if not one.ended and one.status not in ("waiting", "ENQUEUED")), None)
        word = "" if current is None else f"{one_line(current.name, 40)}: {one_line(current.status, 60)}"
        self._bar.update(self._task, completed=ended, total=max(1, len(sent.outcomes)), word=word)


def line_of(outcome: Outcome) -> Text:
    name = clean(outcome.name)
    if outcome.error is not None:
        where = f" at {outcome.step}" if outcome.step else ""
        return Text.assemble(name, ": ", (f"failed{where}: {clean(outcome.error)}", "red"))
    if outcome.status == KNOWN:
        return Text(f"{name}: read before, nothing in it has changed")
    return Text(f"{name}: done{', its content was read before' if outcome.as_before else ''}")


def _screen(quiet: bool) -> Screen:
    return Silent() if quiet else Bar() if is_live() else Screen()
