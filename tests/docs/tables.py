"""Markdown tables as lists of rows."""

from pathlib import Path


def tables(page: Path) -> list[list[dict[str, str]]]:
    """Every table of a page, each as its rows by column name."""
    found: list[list[dict[str, str]]] = []
    header: list[str] = []
    for line in page.read_text("utf-8").splitlines():
        if not line.startswith("|"):
            header = []
        elif not header:
            header = _cells(line)
            found.append([])
        elif set(line) - set("|-: "):
            found[-1].append(dict(zip(header, _cells(line), strict=True)))
    return found


def table_with(page: Path, *columns: str) -> list[dict[str, str]]:
    """The one table of the page that has these columns."""
    [match] = [rows for rows in tables(page) if rows and set(columns) <= rows[0].keys()]
    return match


def bare(cell: str) -> str:
    return cell.strip("`")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]
