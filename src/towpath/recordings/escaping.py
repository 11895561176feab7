"""What somebody said or is called, as each format takes it: text, and never a part of the file's own structure."""

from __future__ import annotations

import re

# Control characters that are no white space: NUL ends text for some readers, escapes steer terminals.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_MARKDOWN = re.compile(r"([\\`*_~\[\]<>#|])")
_UNDERLINE = re.compile(r"[=-]+")


def one_line(text: str) -> str:
    """Every kind of line break is white space to `split`; an empty line would end a cue or a paragraph."""
    return " ".join(_CONTROL.sub("", text).split())


def lines(text: str) -> str:
    """Breaks of lines stay, empty lines do not."""
    return "\n".join(filter(None, map(one_line, text.splitlines())))


def srt(text: str) -> str:
    """SRT has no way to write an arrow that is none."""
    return one_line(text).replace("-->", "→")


def vtt(text: str) -> str:
    """Both in what is said and in the name of a voice; what is written between < and > would be read as markup."""
    return one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def markdown(text: str) -> str:
    """Paragraphs stay, whatever Markdown or HTML would make of them does not."""
    return "\n".join(_markdown_line(one_line(line)) for line in text.splitlines())


def _markdown_line(line: str) -> str:
    escaped = _MARKDOWN.sub(r"\\\1", line)
    return f"\\{escaped}" if _UNDERLINE.fullmatch(line) else escaped  # else the line above would become a heading
