"""How a command fails: one line that says what happened and what to do, and exit code 2."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from towpath.blobs import BlobError
from towpath.cli.screen import clean
from towpath.core.errors import TowpathError

REFUSED = 2
INTERRUPTED = 130


@contextmanager
def plain_errors(*, debug: bool) -> Iterator[None]:
    """Anything that is no expected error keeps its traceback: it is a bug, and the traceback is what helps."""
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except (TowpathError, BlobError, OSError) as error:
        if debug or (isinstance(error, OSError) and error.errno == errno.EPIPE):
            raise
        tell(error)
        raise typer.Exit(REFUSED) from None


def tell(error: Exception) -> None:
    typer.secho("error: ", nl=False, err=True, fg="red", bold=True)
    typer.echo(_line(error), err=True)


def _line(error: Exception) -> str:
    message = " ".join(str(error).split()) or type(error).__name__
    remedy = getattr(error, "remedy", None)
    return clean(f"{message}; {remedy}" if remedy else message)
