"""Operations by name, and how their payloads are read."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from towpath.core.encoding import encode, plain
from towpath.core.errors import Category, ConfigurationError, EncodingError, SchemaInvalid, UnknownOperation
from towpath.core.reactions import ExceptionMap
from towpath.core.records import Subject
from towpath.core.retry import Retry

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}")
_LONGEST_LABEL = 500


@lru_cache(maxsize=4096)
def check_name(what: str, name: Any) -> str:
    """Names of queues and operations end up in logs, URLs and bells: they stay plain."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigurationError(f"{what} must be 1 to 200 letters, digits or _ . : / -, got {name!r}")
    return name


def check_label(what: str, value: Any) -> str:
    """Names that people choose freely: of tenants, lanes, keys, signals, steps."""
    return _known_label(what, value) if type(value) is str else _check_label(what, value)


def _check_label(what: str, value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_LABEL or plain(value) != value:
        raise SchemaInvalid(f"must be 1 to {_LONGEST_LABEL} characters of valid text without NUL, got {value!r}", path=what)
    return value


_known_label = lru_cache(maxsize=4096)(_check_label)  # the same few tenants come by a million times


def check_subject(value: Any) -> Subject | tuple[None, None]:
    """Kind and id; of whatever has no subject, neither."""
    if value is None:
        return None, None
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise SchemaInvalid(f'must be a kind and an id, such as ("recording", "42"), got {value!r}', path="subject")
    return check_name("a subject's kind", value[0]), check_label("subject", value[1])


@dataclass(slots=True)
class Operation:
    """A registered function and everything that was said about it."""

    name: str
    run: Callable[..., Any]
    queue: str
    retry: Retry
    timeout: float
    max_wait: float
    isolation: str | None
    memory_mb: int | None
    budget: str | None
    public: bool
    is_async: bool
    takes_payload: bool
    adapter: TypeAdapter[Any] | None

    what: str = field(init=False)
    """What a message about its payload calls it."""
    _as_it_is: bool | None = field(default=None, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        self.what = f"the payload of {self.name}"

    def check(self, payload: Any) -> str:
        """The payload as JSON, or SchemaInvalid with the path of the field that does not fit."""
        value = self.read(payload)
        if self._as_it_is is None:  # asked once: pydantic looks it up anew every time
            self._as_it_is = self.adapter is None or self.adapter.core_schema["type"] == "dict"
        if self._as_it_is:
            return encode(value, what=self.what)  # says where in a dict the trouble is
        assert self.adapter is not None
        try:
            return encode(self.adapter.dump_python(value, mode="json"), what=self.what)
        except PydanticSerializationError as error:
            raise EncodingError(f"{self.what} cannot be written as JSON: {error}") from None

    def read(self, payload: Any) -> Any:
        """The payload as the operation's own type."""
        if self.adapter is None:
            return payload
        try:
            return self.adapter.validator.validate_python(payload)
        except ValidationError as error:
            raise _invalid(self.name, error) from None


def _invalid(operation: str, error: ValidationError) -> SchemaInvalid:
    first = error.errors(include_url=False)[0]
    path = ".".join(str(part) for part in first["loc"]) or "$"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return SchemaInvalid(
        f"{first['msg']}{more}, in the payload of {operation}",
        path=path,
        remedy="edit the payload to fit the operation's type, then requeue",
    )


class Registry:
    def __init__(self) -> None:
        self._operations: dict[str, Operation] = {}
        self.exceptions: ExceptionMap = {}

    def add(self, operation: Operation) -> None:
        known = self._operations.get(operation.name)
        if known is not None and known.run is not operation.run:
            raise ConfigurationError(f"two operations are named {operation.name!r}: {known.run!r} and {operation.run!r}")
        self._operations[operation.name] = operation

    def get(self, name: str) -> Operation | None:
        return self._operations.get(name)

    def require(self, name: str) -> Operation:
        operation = self._operations.get(name)
        if operation is None:
            known = ", ".join(sorted(self._operations)) or "none at all"
            raise UnknownOperation(f"no operation is named {name!r}; this app knows {known}")
        return operation

    def names(self) -> list[str]:
        return sorted(self._operations)

    def queues(self) -> list[str]:
        return sorted({operation.queue for operation in self._operations.values()})

    def map_exception(self, error: type[BaseException], category: Category | str) -> None:
        self.exceptions[error] = Category(category)


def describe_function(function: Callable[..., Any]) -> tuple[bool, bool, TypeAdapter[Any] | None]:
    """Whether it is async, whether it takes a payload, and the payload's type."""
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters:
        raise ConfigurationError(f"{function.__qualname__} must take the context as its first parameter")
    takes_payload = len(parameters) > 1
    adapter = _adapter(function, parameters[1].name) if takes_payload else None
    return inspect.iscoroutinefunction(function), takes_payload, adapter


def check_importable(function: Callable[..., Any]) -> None:
    """A process of its own finds the function by its name, so it must have one that can be imported."""
    if "<" in getattr(function, "__qualname__", "<nameless>"):
        raise ConfigurationError(
            f"isolation='process' needs a function at module level, which another process can import, got {function!r}"
        )


def _adapter(function: Callable[..., Any], parameter: str) -> TypeAdapter[Any] | None:
    try:
        hint = typing.get_type_hints(function, include_extras=True).get(parameter)
    except NameError as error:
        raise ConfigurationError(
            f"the payload type of {function.__qualname__} cannot be resolved ({error}); define it at module level"
        ) from None
    return None if hint in (None, Any, object) else TypeAdapter(hint)
