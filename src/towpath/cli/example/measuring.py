"""What the example does with a document: plain functions that know nothing of jobs."""

from __future__ import annotations

import hashlib
import lzma
import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from towpath.core.errors import SchemaInvalid

_WORD = re.compile(r"[^\W\d_]+")
_CHUNK = 16 * 1024
_REMEDY = 'requeue it with its true encoding in the payload, for instance "encoding": "latin-1"'


def find_documents(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).glob("*.txt"))


def count_documents(folder: str) -> dict[str, int]:
    return {path.name: len(find_documents(str(path))) for path in sorted(Path(folder).glob("*/"))}


def parse(path: str, encoding: str) -> str:
    try:
        return Path(path).read_bytes().decode(encoding)
    except FileNotFoundError:
        raise SchemaInvalid(f"there is no document {Path(path).name}", path="name") from None
    except LookupError:
        raise SchemaInvalid(f"there is no encoding {encoding!r}", path="encoding", remedy=_REMEDY) from None
    except UnicodeDecodeError as error:
        message = f"{Path(path).name} is not {encoding}, see byte {error.start}"
        raise SchemaInvalid(message, path="encoding", remedy=_REMEDY) from None


def count_words(text: str) -> dict[str, Any]:
    words = [word.lower() for word in _WORD.findall(text)]
    counts = Counter(words)
    sentences = max(1, text.count("."))
    return {"words": len(words), "distinct": len(counts), "words_per_sentence": round(len(words) / sentences, 1)}


def common_words(text: str) -> dict[str, int]:
    """The long words that come up most; short ones tell little in any language."""
    return dict(Counter(word.lower() for word in _WORD.findall(text) if len(word) > 3).most_common(60))


def checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def keywords(documents: list[dict[str, Any]]) -> list[list[str]]:
    """For each document, the words that set it apart from the others: frequent here, rarer there."""
    totals: Counter[str] = Counter()
    for document in documents:
        totals.update(document["common"])
    return [sorted(document["common"], key=_weight(document["common"], totals))[:5] for document in documents]


def _weight(here: dict[str, int], everywhere: Counter[str]) -> Callable[[str], tuple[float, str]]:
    return lambda word: (-here[word] * math.log1p(here[word] / everywhere[word]), word)


def write_report(target: str, tenant: str, documents: list[dict[str, Any]]) -> dict[str, Any]:
    lines = [f"# Documents of {tenant}", "", "| document | language | words | keywords |", "|---|---|---|---|"]
    for document, words in zip(documents, keywords(documents), strict=True):
        lines.append(f"| {document['name']} | {document['language']} | {document['words']:,} | {', '.join(words)} |")
    path = Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return {"report": target, "words": sum(document["words"] for document in documents)}


def pack(source: str, target: str, progress: Callable[[float, float], None]) -> tuple[int, int]:
    """Compresses a file piece by piece; answers its size before and after."""
    data = Path(source).read_bytes()
    packer, pieces = lzma.LZMACompressor(preset=9 | lzma.PRESET_EXTREME), []
    for start in range(0, len(data), _CHUNK):
        pieces.append(packer.compress(data[start : start + _CHUNK]))
        progress(min(start + _CHUNK, len(data)), len(data))
    packed = b"".join([*pieces, packer.flush()])
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    Path(target).write_bytes(packed)
    return len(data), len(packed)
