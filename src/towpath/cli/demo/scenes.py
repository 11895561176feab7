"""What is shown: at each provider a few batches, one after the other, and what happens to them there."""

from __future__ import annotations

from dataclasses import dataclass

from towpath.core.records import DEFAULT_TENANT
from towpath.core.usage import Price
from towpath.providers.simulator import Fault

POOR = "survey"
"""A tenant that may spend next to nothing."""
POOR_MAY_SPEND = 5.0


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
    faults: tuple[Fault, ...] = ()
    later: tuple[Fault, ...] = ()
    seconds: float = 10.0
    at_least: float = 0.0
    """Seconds, however fast the demonstration goes."""
    tenant: str = DEFAULT_TENANT


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
)  # fmt: skip

PRICES: dict[str, Price] = {
    "gpt-5": Price(125, 1000), "gpt-5-mini": Price(25, 200), "llama-4-scout": Price(10, 30),
    "claude-opus-5": Price(500, 2500), "claude-haiku-5": Price(100, 500),
    "gemini-3.8-flash": Price(30, 250), "gemini-3.8-pro": Price(125, 1000),
}  # fmt: skip
"""Cents for a million tokens, in and out; as made up as the models."""
