"""Which language a text is in, by the little words that every sentence has. Enough to choose a stemmer, and no more."""

from __future__ import annotations

import re
from collections import Counter

from towpath.search.words import STEMMERS

LITTLE = {
    "da": "og i jeg det at en den til er som på de med han af for ikke der var mig sig men et har om vi",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er",
    "en": "the of and to in is that it was for on are as with his they at be this from have or by not but what",
    "es": "de la que el en y a los se del las un por con no una su para es al lo como más pero sus le",
    "fi": "ja on ei että se oli hän mutta ovat kun niin kuin myös joka mukaan sekä sen ole vain hänen ollut tai ne",
    "fr": "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont",
    "it": "di che è e la il un a per in una sono mi ho lo ma ha le si ti i con cosa se io come",
    "nl": "de en van ik te dat die in een hij het niet zijn is was op aan met als voor had er maar om hem dan",
    "no": "og i jeg det at en et den til er som på de med han av ikke der så var meg seg men ett har om",
    "pt": "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das",
    "sv": "och det att i en jag hon som han på den med var sig för så till är men ett om hade de av icke mig",
}
_WORD = re.compile(r"[^\W\d_]+")
_LOOKED_AT = 4000
_LEAST = 2
_OF = {word: [name for name, text in LITTLE.items() if word in text.split()] for word in " ".join(LITTLE.values()).split()}


def guessed(text: str) -> str | None:
    """The language with the most little words, by how many languages share each; None where that says nothing."""
    seen: Counter[str] = Counter()
    for word in _WORD.findall(text[:_LOOKED_AT].lower()):
        for language in _OF.get(word, ()):
            seen[language] += 1 / len(_OF[word])  # type: ignore[assignment]  # a Counter of weights
    [(best, weight)] = seen.most_common(1) or [("", 0)]
    return best if weight >= _LEAST else None


def stemmer_for(language: str | None, text: str) -> str:
    """The language whose stems are used: what is said to be, or what it looks like; empty for none."""
    said = (language or "").lower().replace("_", "-").partition("-")[0]
    said = {"nb": "no", "nn": "no"}.get(said, said)
    return said if said in STEMMERS else ("" if said else guessed(text) or "")
