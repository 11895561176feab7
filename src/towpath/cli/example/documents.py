"""Writes the documents that the example works on: long, a little absurd, the same on every run."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LanguageTexts:
    """Enough of a language to fill a logbook."""

    sentences: tuple[str, ...]
    things: tuple[str, ...]
    places: tuple[str, ...]


ENGLISH = LanguageTexts(
    (
        "The {thing} was seen near the {place} before the morning mist had lifted.",
        "Nobody at the {place} remembers who first repaired the {thing}.",
        "We waited at the {place} until the {thing} had been weighed and written down.",
        "After the rain the {thing} drifted slowly from the {place} towards the {place}.",
        "It is said that every {thing} of this region was once built beside the {place}.",
        "The keeper charged two coins for the {thing}, and another for the way to the {place}.",
        "Between the {place} and the {place} the water stands still and carries the {thing}.",
        "Whoever wants to understand the {thing} should spend a winter at the {place}.",
    ),
    ("barge", "lantern", "towrope", "anchor", "compass", "rudder", "horse", "ledger", "timber", "windlass", "ferry", "bell"),
    ("lock", "harbour", "aqueduct", "boathouse", "bridge", "weir", "tunnel", "market", "reservoir", "junction"),
)
FRENCH = LanguageTexts(
    (
        "Le {thing} attendait devant le {place} depuis le début de la semaine.",
        "On raconte que le {thing} a été trouvé près du {place} par un voyageur.",
        "Personne ne savait pourquoi le {thing} devait passer par le {place} avant la nuit.",
        "Dans le {place}, chaque {thing} est compté, pesé et noté avec soin.",
        "Le gardien du {place} préfère le silence, mais il aime beaucoup le {thing}.",
        "Entre le {place} et le {place}, l'eau est calme et porte le {thing} sans bruit.",
    ),
    ("bateau", "cordage", "cheval", "gouvernail", "registre", "fanal", "moulin", "tonneau", "radeau", "charbon"),
    ("canal", "port", "pont", "village", "barrage", "quai", "tunnel", "hameau", "hangar"),
)
GERMAN = LanguageTexts(
    (
        "Der {thing} wurde früh am Morgen hinter dem {place} gesehen.",
        "Niemand wusste, warum der {thing} so lange vor dem {place} liegen musste.",
        "Zwischen dem {place} und dem {place} fließt das Wasser ruhig und trägt den {thing}.",
        "Für jeden {thing} verlangte der Wärter am {place} zwei Münzen und eine Geschichte.",
        "Nach dem Regen trieb der {thing} langsam über den {place} zurück.",
        "Wer den {thing} verstehen will, muss einen Winter lang beim {place} wohnen.",
    ),
    ("Kahn", "Anker", "Kompass", "Strick", "Ofen", "Wagen", "Krug", "Balken", "Mast", "Spiegel"),
    ("Hafen", "Kanal", "Markt", "Damm", "Turm", "Speicher", "Teich", "Wald", "Steg"),
)
TONGUES = {"english": ENGLISH, "french": FRENCH, "german": GERMAN}


@dataclass(frozen=True, slots=True)
class TenantDocuments:
    """What one tenant hands in."""

    tenant: str
    tongue: str
    documents: int
    encodings: tuple[str, ...] = ()
    """Encodings of the first documents; all others are UTF-8."""


# One tenant has much more than the others, and the others do not wait for it. One document is not what it claims to be.
SHELVES = (
    TenantDocuments("alder", "english", 12),
    TenantDocuments("birch", "french", 4),
    TenantDocuments("cedar", "german", 4, encodings=("latin-1",)),
)


def write_documents(folder: Path) -> dict[str, Path]:
    """Writes every shelf; answers each tenant's folder."""
    folders = {}
    for shelf in SHELVES:
        folders[shelf.tenant] = home = folder / shelf.tenant
        home.mkdir(parents=True, exist_ok=True)
        for number in range(shelf.documents):
            dice = random.Random(f"{shelf.tenant} {number}")
            encoding = shelf.encodings[number] if number < len(shelf.encodings) else "utf-8"
            (home / f"logbook-{number + 1:02}.txt").write_bytes(_text(TONGUES[shelf.tongue], dice).encode(encoding))
    return folders


def _text(tongue: LanguageTexts, dice: random.Random) -> str:
    favourites = dice.sample(tongue.things, 3)
    paragraphs = []
    for _ in range(dice.randint(300, 750)):
        chosen = dice.choices(tongue.sentences, k=dice.randint(4, 9))
        paragraphs.append(" ".join(_filled(tongue, pattern, favourites, dice) for pattern in chosen))
    return "\n\n".join(paragraphs) + "\n"


def sentence(tongue: LanguageTexts, dice: random.Random) -> str:
    return _filled(tongue, dice.choice(tongue.sentences), [], dice)


def _filled(tongue: LanguageTexts, pattern: str, favourites: list[str], dice: random.Random) -> str:
    for name, words in (("{thing}", (*tongue.things, *favourites * 4)), ("{place}", tongue.places)):
        while name in pattern:
            pattern = pattern.replace(name, dice.choice(words), 1)
    return pattern
