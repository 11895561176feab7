"""The log of a worker process: text for people, JSON lines for machines; every line from inside a job says which."""

from __future__ import annotations

import io
import logging
import sys
from typing import Any, TextIO

import structlog

from towpath.config import Settings
from towpath.core.errors import ConfigurationError
from towpath.core.log_lines import indented, one_line
from towpath.engine.running.current import current_context


def set_up_logs(settings: Settings) -> None:
    """Sends all `logging` to standard error, in the format and from the level that the settings say.

    An app that has set up logging itself by now keeps what it has.
    """
    level = logging.getLevelNamesMapping().get(settings.log_level.upper())
    if level is None:
        names = "DEBUG, INFO, WARNING, ERROR"
        raise ConfigurationError(f"TOWPATH_LOG_LEVEL must be one of {names}, got {settings.log_level!r}")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(as_json=settings.log_json, colors=sys.stderr.isatty()))
    logging.basicConfig(level=level, handlers=[handler])


def _formatter(*, as_json: bool, colors: bool) -> logging.Formatter:
    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        _which_job,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _on_one_line,
    ]
    if as_json:
        last: list[Any] = [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer(ensure_ascii=False)]
    else:
        last = [structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=_trace, pad_event_to=0)]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last]
    )


class LineFormatter(logging.Formatter):
    """The same for plain logging."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  (as logging calls it)
        return one_line(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802  (same)
        return indented(super().formatException(ei)).rstrip("\n")


def _on_one_line(_logger: Any, _method: str, line: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Paths, tenants and messages come from strangers: they must not forge lines, or drive the terminal of a reader."""
    return {name: one_line(value) if isinstance(value, str) else value for name, value in line.items()}


def _trace(out: TextIO, error: Any) -> None:
    text = io.StringIO()
    structlog.dev.plain_traceback(text, error)
    out.write("\n" + indented(text.getvalue().strip("\n")).rstrip("\n"))


def _which_job(_logger: Any, _method: str, line: structlog.typing.EventDict) -> structlog.typing.EventDict:
    ctx = current_context.get()
    if ctx is not None:
        line.update(job=ctx.id, operation=ctx.operation, tenant=ctx.tenant, attempt=ctx.attempt)
    return line
