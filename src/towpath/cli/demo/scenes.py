"""What is shown: at each provider a few batches, one after the other, and what happens to them there."""

from __future__ import annotations

from dataclasses import dataclass

from towpath.core.records import DEFAULT_TENANT
from towpath.core.usage import Price
from towpath.providers.simulator import Fault

POOR = "survey"
"""A tenant that may spend next to nothing."""
POOR_MAY_SPEND = 5.0
BUCKET = "demonstration"
SAMPLE = "beckett.wav"
"""Somebody reading, which the speech library brings; all other sounds are made."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One batch. `faults` strike when it is sent, `later` when the provider has it; `seconds` is how long that takes."""

    title: str
    provider: str
    models: tuple[str, ...]
    shows: str
    requests: int = 40
    broken: int = 0
    """Lines that cannot be asked."""
    inputs: tuple[str, ...] = ()
    """To be transcribed, instead of requests: addresses that the provider reads by itself, and names of sounds that are
    uploaded first."""
    locale: str | None = "en-IN"
    faults: tuple[Fault, ...] = ()
    later: tuple[Fault, ...] = ()
    seconds: float = 10.0
    at_least: float = 0.0
    """Seconds, however fast the demonstration goes."""
    tenant: str = DEFAULT_TENANT


_USUAL = ("",)
"""A provider of speech has a model that it takes if it is told none."""

SCENES: tuple[Scene, ...] = (
    Scene(
        "Names for forty barges", "OPENAI", ("gpt-5-mini",),
        "all goes well: COMPLETED",
    ),
    Scene(
        "Letters to the lock keepers", "OPENAI", ("gpt-5-mini",),
        "half of its requests fail there: PARTIAL_COMPLETE. Retry asks only those again",
        faults=(Fault.PARTIAL,), seconds=15,
    ),
    Scene(
        "Tolls of the northern canal", "OPENAI", ("gpt-5",),
        "429, too many requests: PENDING until the time that Retry-After names, then sent",
        faults=(Fault.RATE_LIMITED,) * 3,
    ),
    Scene(
        "Horses and their harness", "OPENAI", ("gpt-5-mini",),
        "the answer to its submission is lost; it is found there by its key, and not paid twice",
        faults=(Fault.LOST_ANSWER,), seconds=20,
    ),
    Scene(
        "Songs that nobody remembers", "OPENAI", ("gpt-5-mini",),
        "the provider forgets it; after three polls it is given up: FAILED",
        faults=(Fault.VANISHES,),
    ),
    Scene(
        "A logbook with torn pages", "OPENAI_COMPATIBLE", ("llama-4-scout",),
        "six of its lines cannot be asked; each is told with the reason, and stops no other",
        broken=6,
    ),
    Scene(
        "The flooded archive", "OPENAI_COMPATIBLE", ("llama-4-scout",),
        "the provider gives all of it up: FAILED, with what the provider says",
        faults=(Fault.FAILS,),
    ),
    Scene(
        "Ballads in two voices", "ANTHROPIC", ("claude-opus-5", "claude-haiku-5"),
        "every request is asked of two models, an order for each",
        requests=20,
    ),
    Scene(
        "A reply that went overboard", "ANTHROPIC", ("claude-haiku-5",),
        "the answer is lost and the provider cannot say whether it has it: it waits for your word, submit_unknown",
        faults=(Fault.LOST_ANSWER,), seconds=60, at_least=60,
    ),
    Scene(
        "Weather over the reservoir", "GEMINI", ("gemini-3.8-flash",),
        "its status moves backwards, then is one that nobody knows: it is polled on, COMPLETED",
        faults=(Fault.BACKWARDS, Fault.UNKNOWN_STATUS), seconds=15,
    ),
    Scene(
        "Fish in the aqueduct", "GEMINI", ("gemini-3.8-flash",),
        "two polls in a row get a 503: counted, and asked again. The third would have failed it",
        later=(Fault.UNAVAILABLE, Fault.UNAVAILABLE), seconds=15,
    ),
    Scene(
        "All the bridges, one by one", "VERTEX", ("gemini-3.8-pro",),
        "a slow one: IN_PROGRESS, and polled less and less often",
        requests=120, seconds=150,
    ),
    Scene(
        "A survey beyond its means", "VERTEX", ("gemini-3.8-pro",),
        f"its tenant may spend {POOR_MAY_SPEND:g} cents, and it costs more: it waits for budget",
        requests=120, tenant=POOR,
    ),
    Scene(
        "Voices of the lock keepers", "AWS", _USUAL,
        "speech: a job for each of four files, and one of them fails: PARTIAL_COMPLETE",
        inputs=tuple(f"s3://{BUCKET}/voices/keeper-{number}.wav" for number in range(1, 5)), faults=(Fault.FAILS,),
    ),
    Scene(
        "Tapes that got wet", "AWS", _USUAL,
        "speech: the provider can read neither of two files: FAILED, with what it says of them",
        inputs=tuple(f"s3://{BUCKET}/tapes/tape-{side}.wav" for side in "ab"), faults=(Fault.FAILS,) * 2,
    ),
    Scene(
        "Horns along the towpath", "AZURE", _USUAL,
        "speech: one job for six files, and every second cannot be heard: PARTIAL_COMPLETE",
        inputs=tuple(f"https://localhost/horns/horn-{number}.wav" for number in range(1, 7)), faults=(Fault.PARTIAL,),
    ),
    Scene(
        "Stories told at the tiller", "GOOGLE", ("long",),
        "speech: two files are where the provider reads them, a third is copied there and removed again: COMPLETED",
        inputs=(f"gs://{BUCKET}/stories/ann.wav", f"gs://{BUCKET}/stories/bob.wav", "foghorn.wav"), locale="en-US",
    ),
    Scene(
        "The sounds of the boatyard", "SARVAM", _USUAL,
        "speech: three of its five inputs cannot be heard; each is told with the reason, and stops no other",
        inputs=("hammer.wav", "bell.wav", "bell.wav", "https://localhost/notes.pdf", "s3://somebody-elses/saw.wav"),
    ),
    Scene(
        "Read aloud, and heard by this machine", "LOCAL", (),
        "speech: no provider, but the engine that is installed here; it is the one scene in which nothing is played",
        inputs=(SAMPLE,), locale=None,
    ),
)  # fmt: skip

PRICES: dict[str, Price] = {
    "gpt-5": Price(125, 1000), "gpt-5-mini": Price(25, 200), "llama-4-scout": Price(10, 30),
    "claude-opus-5": Price(500, 2500), "claude-haiku-5": Price(100, 500),
    "gemini-3.8-flash": Price(30, 250), "gemini-3.8-pro": Price(125, 1000),
}  # fmt: skip
"""Cents for a million tokens, in and out; as made up as the models."""
