"""Word error rate: how many words must be changed, dropped or added to get from what was said to what was heard."""

import re


def word_error_rate(said: str, heard: str) -> float:
    expected, got = _words(said), _words(heard)
    row = list(range(len(got) + 1))
    for number, word in enumerate(expected, 1):
        before, row[0] = row[0], number
        for at, other in enumerate(got, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (word != other))
    return row[-1] / len(expected)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower().replace("’", "'"))
