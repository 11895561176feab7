"""The pages of the documentation and the fenced blocks in them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w/.]+\.(?:py|sql|ini))\n")


@dataclass(frozen=True)
class Block:
    """`file` is the name in a first line such as `# shop.py` or `-- shop/queries/orders.sql`."""

    language: str
    text: str
    line: int
    file: str | None


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(language, match[2], text.count("\n", 0, match.start()) + 2, _file(match[2]))
        for match in _FENCE.finditer(text)
        if match[1] == language
    ]


def _file(text: str) -> str | None:
    found = _FILE.match(re.sub(r"^--", "#", text))
    return found[1] if found else None


def write_files(page: Path, folder: Path) -> list[Path]:
    """Writes the page's blocks as files: Python that names none is `example.py`, all of it together.

    Each block stands in its file at the line it has in the page, so that a traceback points at the page.
    """
    files: dict[str, str] = {}
    for block in blocks(page, "python"):
        name = block.file or "example.py"
        before = files.get(name, "")
        files[name] = before + "\n" * (block.line - 1 - before.count("\n")) + block.text
    for block in [*blocks(page, "sql"), *blocks(page, "ini")]:
        if block.file is not None:
            files[block.file] = block.text
    written = []
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        written.append(path)
    return written
