"""Where a demonstration keeps everything: a folder of its own with a mark in it, never mixed with real work."""

from __future__ import annotations

from pathlib import Path

from towpath.cli.addresses import noted_address
from towpath.cli.data import database_in
from towpath.core.errors import ConfigurationError
from towpath.store import private

DATA = Path("towpath-demo")
_MARK = "README.txt"
_SAYS = "Of towpath demo: nothing in this folder is real, and nothing else uses it. Delete it whenever you like.\n"


def check_place(folder: Path) -> None:
    """Refuses somebody else's folder, and one that a demonstration is running in."""
    if folder.exists() and not (folder / _MARK).is_file() and any(folder.iterdir()):
        raise ConfigurationError(
            f"there is something in {folder}, and no demonstration has put it there; name a folder that is empty or new "
            f"with --data, or leave it to ./{DATA}"
        )
    address = noted_address(database_in(folder))
    if address is not None:
        raise ConfigurationError(
            f"a demonstration runs in {folder} already, at {address}; stop it with Ctrl-C, or name another folder by --data"
        )


def make_place(folder: Path) -> None:
    private.make_folder(folder)
    (folder / _MARK).write_text(_SAYS, "utf-8")
