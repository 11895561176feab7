"""towpath version."""

from __future__ import annotations

import typer

from towpath.version import __version__


def version() -> None:
    """Prints the version of Towpath."""
    typer.echo(f"towpath {__version__}")
