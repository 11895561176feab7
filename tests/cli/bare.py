"""A Python environment that has Towpath with some of its extras, and nothing else: packages are linked, not installed."""

import venv
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


class Bare:
    """`python` runs there; `packages` are the names of what was linked."""

    def __init__(self, folder: Path, *extras: str):
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / "bin/python"
        [site] = (folder / "lib").glob("python*/site-packages")
        self.packages = set()
        for found in _with_all_it_needs(extras):
            self.packages.add(canonicalize_name(found.name))
            _link(found, site)

    def command(self, *args: object) -> list[str]:
        return [str(self.python), "-c", "from towpath.cli import main; main()", *map(str, args)]


def _with_all_it_needs(extras: tuple[str, ...]) -> list[Distribution]:
    found: dict[str, Distribution] = {}
    open_ones = [("towpath", frozenset(extras))]
    seen = set()
    while open_ones:
        name, wanted = one = open_ones.pop()
        if one in seen:
            continue
        seen.add(one)
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:  # for another system, or another Python
            continue
        for text in found[name].requires or []:
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in {"", *wanted}):
                open_ones.append((canonicalize_name(needed.name), frozenset(needed.extras)))
    return list(found.values())


def _link(found: Distribution, site: Path) -> None:
    here = Path(str(found.locate_file("")))
    tops = {file.parts[0] for file in found.files or [] if file.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        if (here / top).exists() and not (site / top).exists():
            (site / top).symlink_to(here / top)
