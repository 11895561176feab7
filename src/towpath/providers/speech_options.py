"""What an order of a transcription asks for, in the words all providers share.

locale             a BCP 47 tag such as `en-US`; none: the provider finds out, if it can
diarization        true, or how many speakers there are at most
word_timestamps    a time for every word
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from towpath.core.errors import SchemaInvalid
from towpath.providers.contract import Order

_MOST_SPEAKERS = 30


@dataclass(frozen=True, slots=True)
class SpeechOptions:
    locale: str | None
    speakers: int | None
    """How many at most, 0: nobody said; None: they are not told apart."""
    words: bool


def speech_options(order: Order) -> SpeechOptions:
    """Raises SchemaInvalid for a value of the wrong kind."""
    locale, diarization = order.options.get("locale"), order.options.get("diarization", False)
    if locale is not None and not (isinstance(locale, str) and locale):
        raise SchemaInvalid(f"a language tag such as en-US is expected, got {locale!r}", path="options.locale")
    words = order.options.get("word_timestamps", False)
    if not isinstance(words, bool):
        raise SchemaInvalid(f"true or false is expected, got {words!r}", path="options.word_timestamps")
    return SpeechOptions(locale, _speakers(diarization), words)


def _speakers(given: object) -> int | None:
    if given is None or given is False:
        return None
    if given is True:
        return 0
    if isinstance(given, int) and 2 <= given <= _MOST_SPEAKERS:
        return given
    raise SchemaInvalid(
        f"true, false or the number of speakers (2 to {_MOST_SPEAKERS}) is expected, got {given!r}",
        path="options.diarization",
    )


def check_speech(name: str, order: Order, knows: Collection[str], reads: Collection[str] = ()) -> SpeechOptions:
    """What every transcription is checked for: its task, options that the provider has a word for, and inputs it can get at.

    `reads` are the schemes it fetches by itself; without them its inputs are sent to it.
    """
    if order.task_type != "transcription":
        raise SchemaInvalid(f"{name} transcribes, got an order for {order.task_type!r}", path="task_type")
    if unknown := sorted(set(order.options) - set(knows)):
        raise SchemaInvalid(
            f"{name} has no word for {', '.join(unknown)}; it knows {', '.join(sorted(knows))}", path="options"
        )
    if not order.inputs:
        raise SchemaInvalid("there is nothing to transcribe", path="inputs")
    for given in order.inputs:
        if reads and urlsplit(given.uri or "").scheme not in reads:
            schemes = " or ".join(f"{scheme}://" for scheme in sorted(reads))
            raise SchemaInvalid(
                f"{name} fetches files from {schemes} only, {given.filename!r} has no such URI", path="inputs"
            )
        if not reads and not given.blob:
            raise SchemaInvalid(f"{name} is sent its files, {given.filename!r} has no content here", path="inputs")
    return speech_options(order)


def check_count(name: str, order: Order, most: int) -> None:
    if len(order.inputs) > most:
        raise SchemaInvalid(f"a job of {name} takes {most} files at most, got {len(order.inputs)}", path="inputs")


def refs_by_address(name: str, order: Order) -> dict[str, str]:
    """Each input's ref by its address, for providers that name files by it; raises SchemaInvalid if two have the same one.

    What follows a question mark is left off: it may be a key to the file, which not every provider tells back.
    """
    refs = {address(given.uri or ""): given.ref for given in order.inputs}
    if len(refs) != len(order.inputs):
        raise SchemaInvalid(f"{name} could not tell apart inputs that have the same address", path="inputs")
    return refs


def address(uri: str) -> str:
    return uri.partition("?")[0]
