"""Text from outside as one line of a log: nothing in it begins a line of its own, or drives a terminal."""

from __future__ import annotations

# Control characters, line separators, and the marks that turn the direction of what follows.
_SEPARATORS = (0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_ESCAPED = {code: f"\\x{code:02x}" for code in (*range(32), *range(0x7F, 0xA0))}
_ESCAPED |= {code: f"\\u{code:04x}" for code in _SEPARATORS} | {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}
_IN_LINES = {code: shown for code, shown in _ESCAPED.items() if code not in (0x09, 0x0A)}


def one_line(text: object) -> str:
    return str(text).translate(_ESCAPED)


def indented(text: str) -> str:
    """Lines that belong to the one before, such as a traceback: none of them can pass for one of its own."""
    return "".join(f"    {line}\n" for line in text.translate(_IN_LINES).splitlines())
