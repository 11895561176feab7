"""Language tags as people and engines write them."""

from __future__ import annotations

import re

from towpath.core.errors import SchemaInvalid

_TAG = re.compile(r"[a-z]{2,3}([-_][a-z0-9]{2,8})*", re.IGNORECASE)
_NO_CHOICE = ("", "auto")
_LONGEST_NAME = 40
WHISPER = {
    "en": "english", "zh": "chinese", "de": "german", "es": "spanish", "ru": "russian", "ko": "korean", "fr": "french",
    "ja": "japanese", "pt": "portuguese", "tr": "turkish", "pl": "polish", "ca": "catalan", "nl": "dutch",
    "ar": "arabic", "sv": "swedish", "it": "italian", "id": "indonesian", "hi": "hindi", "fi": "finnish",
    "vi": "vietnamese", "he": "hebrew", "uk": "ukrainian", "el": "greek", "ms": "malay", "cs": "czech",
    "ro": "romanian", "da": "danish", "hu": "hungarian", "ta": "tamil", "no": "norwegian", "th": "thai", "ur": "urdu",
    "hr": "croatian", "bg": "bulgarian", "lt": "lithuanian", "la": "latin", "mi": "maori", "ml": "malayalam",
    "cy": "welsh", "sk": "slovak", "te": "telugu", "fa": "persian", "lv": "latvian", "bn": "bengali", "sr": "serbian",
    "az": "azerbaijani", "sl": "slovenian", "kn": "kannada", "et": "estonian", "mk": "macedonian", "br": "breton",
    "eu": "basque", "is": "icelandic", "hy": "armenian", "ne": "nepali", "mn": "mongolian", "bs": "bosnian",
    "kk": "kazakh", "sq": "albanian", "sw": "swahili", "gl": "galician", "mr": "marathi", "pa": "punjabi",
    "si": "sinhala", "km": "khmer", "sn": "shona", "yo": "yoruba", "so": "somali", "af": "afrikaans", "oc": "occitan",
    "ka": "georgian", "be": "belarusian", "tg": "tajik", "sd": "sindhi", "gu": "gujarati", "am": "amharic",
    "yi": "yiddish", "lo": "lao", "uz": "uzbek", "fo": "faroese", "ht": "haitian creole", "ps": "pashto",
    "tk": "turkmen", "nn": "nynorsk", "mt": "maltese", "sa": "sanskrit", "lb": "luxembourgish", "my": "myanmar",
    "bo": "tibetan", "tl": "tagalog", "mg": "malagasy", "as": "assamese", "tt": "tatar", "haw": "hawaiian",
    "ln": "lingala", "ha": "hausa", "ba": "bashkir", "jw": "javanese", "su": "sundanese", "yue": "cantonese",
}  # fmt: skip
"""What Whisper's models hear, and services that have one: tags, and the names by which they tell what they heard."""
_TAGS = {name: tag for tag, name in WHISPER.items()}


def primary(language: str | None) -> str | None:
    """`en` for `en`, `EN`, `en-GB` and `en_US`; None where nothing was chosen."""
    tag = (language or "").strip()
    if tag.lower() in _NO_CHOICE:
        return None
    if not _TAG.fullmatch(tag):
        raise SchemaInvalid(
            f"{tag[:40]!r} is no language tag", path="language", remedy="write it like en, de or pt-BR, or leave it out"
        )
    return re.split("[-_]", tag.lower())[0]


def detected(said: object) -> str | None:
    """The language that an engine says it has heard, by its tag: some say `en`, others `english`. None if it says nothing
    that can be understood."""
    text = said.strip().lower()[:_LONGEST_NAME] if isinstance(said, str) else ""
    try:
        return _TAGS.get(text) or primary(text)
    except SchemaInvalid:
        return None
