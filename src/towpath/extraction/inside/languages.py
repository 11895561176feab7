"""Tags of languages in their short form: `de` for `deu`, `ger` and `de-AT`."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SHORT = {
    "afr": "af", "amh": "am", "ara": "ar", "aze": "az", "bel": "be", "ben": "bn", "bul": "bg", "cat": "ca", "ces": "cs",
    "cmn": "zh", "dan": "da", "deu": "de", "ell": "el", "eng": "en", "epo": "eo", "est": "et", "fin": "fi", "fra": "fr",
    "guj": "gu", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "hye": "hy", "ind": "id", "ita": "it", "jav": "jv",
    "jpn": "ja", "kan": "kn", "kat": "ka", "khm": "km", "kor": "ko", "lat": "la", "lav": "lv", "lit": "lt", "mal": "ml",
    "mar": "mr", "mkd": "mk", "mya": "my", "nep": "ne", "nld": "nl", "nob": "nb", "ori": "or", "pan": "pa", "pes": "fa",
    "pol": "pl", "por": "pt", "ron": "ro", "rus": "ru", "sin": "si", "slk": "sk", "slv": "sl", "sna": "sn", "spa": "es",
    "srp": "sr", "swe": "sv", "tam": "ta", "tel": "te", "tgl": "tl", "tha": "th", "tuk": "tk", "tur": "tr", "ukr": "uk",
    "urd": "ur", "uzb": "uz", "vie": "vi", "yid": "yi", "zho": "zh", "zul": "zu",
}  # fmt: skip
_TAG = re.compile(r"[a-z]{2,3}(?=$|[-_])", re.IGNORECASE)


def short(said: str | None, heard: Sequence[str] | None) -> str | None:
    """What the text was found to be, else what the document says of itself, else None."""
    for given in (*(heard or [])[:1], said or ""):
        if found := _TAG.match(given.strip()):
            tag = found[0].lower()
            return _SHORT.get(tag, tag)
    return None
