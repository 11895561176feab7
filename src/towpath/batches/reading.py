"""Reads the requests of a completion: every line on its own, so that a broken one does not stop the others.

Everything is done in files, line by line, and the names that have been seen are in a database of their own: a million
requests take no more memory than a hundred.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from towpath.batches.scratch import Scratch
from towpath.providers import Limits

LONGEST_LINE = 8 * 1024 * 1024
LONGEST_ID = 512
SHOWN = 100
"""How many of the lines that cannot be asked are kept in the row; all are in the results."""
_USUAL_ANSWER = 256
_CHARACTERS_PER_TOKEN = 4


@dataclass(slots=True)
class Shard:
    """One order's requests. `model` is its place in the batch's list; `first` and `last` are numbers of lines."""

    model: int
    shard: int
    first: int = 0
    last: int = 0
    count: int = 0
    bytes: int = 0


@dataclass(slots=True)
class Tokens:
    """What one model is going to read and may write, as far as can be guessed."""

    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(slots=True)
class Read:
    count: int = 0
    invalid: int = 0
    invalid_inputs: list[dict[str, Any]] = field(default_factory=list)
    shards: list[Shard] = field(default_factory=list)
    tokens: list[Tokens] = field(default_factory=list)
    models: list[str] = field(default_factory=list)


class Unfit(Exception):
    """A line that cannot be asked; the message says why, and a code and a parameter too where the reader has such."""

    def __init__(
        self, reason: str, custom_id: str | None = None, *, code: str | None = None, param: str | None = None
    ) -> None:
        super().__init__(reason)
        self.custom_id, self.code, self.param = custom_id, code, param


@dataclass(frozen=True, slots=True)
class Asked:
    custom_id: str
    body: dict[str, Any]
    models: list[str] | None = None
    """Only these; None is all of the batch."""


def parse(line: bytes) -> Asked:
    """A request as people write it: `{"custom_id": "…", "body": {…}}`. What OpenAI's files have besides is ignored."""
    try:
        value = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Unfit(f"the line is no JSON: {_why(error)}") from None
    if not isinstance(value, dict):
        raise Unfit("the line is no JSON object")
    custom_id = value.get("custom_id")
    if not isinstance(custom_id, str) or not custom_id:
        raise Unfit("it has no custom_id, which is a text by which its answer is known")
    if len(custom_id) > LONGEST_ID or not custom_id.isprintable():
        raise Unfit(f"its custom_id is longer than {LONGEST_ID} characters, or has some that cannot be shown")
    body = value.get("body")
    if not isinstance(body, dict) or not body:
        raise Unfit("it has no body, which is the request as the chat API takes it", custom_id)
    models = value.get("models")
    if models is not None and not (isinstance(models, list) and models and all(isinstance(one, str) for one in models)):
        raise Unfit("models is a list of the models that are to be asked", custom_id)
    return Asked(custom_id, {name: part for name, part in body.items() if name != "model"}, models)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number in JSON")


def _why(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]


class Reader:
    """Makes files of what it reads: `requests`, `index`, and a shard for each order, in one folder.

    With `most_models` the lines say which models there are, up to so many.
    """

    def __init__(
        self,
        folder: Path,
        models: Sequence[str],
        limits: Limits,
        parse_line: Callable[[bytes], Asked] = parse,
        most_models: int = 0,
    ) -> None:
        self._folder, self._models, self._limits = folder, list(models), limits
        self._parse, self._most_models = parse_line, most_models
        self._read = Read(tokens=[Tokens() for _ in models], models=self._models)
        self._open: dict[int, tuple[Shard, IO[bytes]]] = {}

    def shard_path(self, shard: Shard) -> Path:
        return self._folder / f"shard-{shard.model}-{shard.shard}"

    @property
    def index(self) -> Path:
        return self._folder / "index"

    @property
    def requests(self) -> Path:
        return self._folder / "requests"

    def read(self, source: Path) -> Read:
        with (
            ExitStack() as files,
            closing(Scratch(self._folder / "names")) as names,
            self.index.open("wb") as index,
            self.requests.open("wb") as requests,
        ):
            files.callback(self._close)
            for line in _lines(source):
                number = self._read.count
                self._read.count += 1
                try:
                    asked, models = self._fit(names, line)
                except Unfit as error:
                    self._refuse(index, number, error)
                    continue
                told = {"custom_id": asked.custom_id} | ({"models": models} if asked.models is not None else {})
                index.write(json.dumps(told).encode() + b"\n")
                requests.write(json.dumps({"n": number, "body": asked.body}).encode() + b"\n")
                for model in models:
                    self._add(model, number, asked.body)
        self._read.shards.sort(key=lambda shard: (shard.model, shard.shard))
        return self._read

    def _fit(self, names: Scratch, line: bytes | None) -> tuple[Asked, list[int]]:
        if line is None:
            raise Unfit(f"the line is longer than {LONGEST_LINE:,} bytes")
        asked = self._parse(line)
        self._learn(asked)
        strange = [one for one in asked.models or () if one not in self._models]
        if strange:
            raise Unfit(f"the batch does not ask the model {strange[0][:100]!r}", asked.custom_id)
        if not names.add(asked.custom_id):
            raise Unfit(
                "its custom_id is that of an earlier line", asked.custom_id, code="duplicate_custom_id", param="custom_id"
            )
        wanted = self._models if asked.models is None else asked.models
        return asked, sorted({self._models.index(one) for one in wanted})

    def _learn(self, asked: Asked) -> None:
        for model in asked.models or () if self._most_models else ():
            if model in self._models:
                continue
            if len(self._models) >= self._most_models:
                why = f"it is the {self._most_models + 1}th model in the file, which may have {self._most_models}"
                raise Unfit(why, asked.custom_id, code="too_many_models", param="body.model")
            self._models.append(model)
            self._read.tokens.append(Tokens())

    def _refuse(self, index: IO[bytes], number: int, error: Unfit) -> None:
        told: dict[str, Any] = {"line": number + 1, "custom_id": error.custom_id, "reason": str(error)}
        if self._most_models:
            told |= {"code": error.code or "invalid_json_line", "param": error.param}
        self._read.invalid += 1
        if len(self._read.invalid_inputs) < SHOWN:
            self._read.invalid_inputs.append(told)
        index.write(json.dumps({"custom_id": error.custom_id, "reason": str(error)}).encode() + b"\n")

    def _add(self, model: int, number: int, body: dict[str, Any]) -> None:
        line = json.dumps({"custom_id": f"r{number}", "body": body}).encode() + b"\n"
        shard, target = self._shard_for(model, number, len(line))
        target.write(line)
        shard.last = number
        shard.count += 1
        shard.bytes += len(line)
        tokens, more = self._read.tokens[model], guessed(body)
        tokens.tokens_in += more.tokens_in
        tokens.tokens_out += more.tokens_out

    def _shard_for(self, model: int, number: int, size: int) -> tuple[Shard, IO[bytes]]:
        found = self._open.get(model)
        if found is not None and self._fits(found[0], size):
            return found
        if found is not None:
            found[1].close()
        shard = Shard(model, found[0].shard + 1 if found is not None else 0, number)
        self._read.shards.append(shard)
        self._open[model] = shard, self.shard_path(shard).open("wb")
        return self._open[model]

    def _fits(self, shard: Shard, size: int) -> bool:
        limits = self._limits
        return (not limits.count or shard.count < limits.count) and (not limits.bytes or shard.bytes + size <= limits.bytes)

    def _close(self) -> None:
        for _, target in self._open.values():
            target.close()


def _lines(source: Path) -> Iterator[bytes | None]:
    """Lines that are not empty; None for one that is too long to be held."""
    with source.open("rb") as lines:
        while line := lines.readline(LONGEST_LINE + 1):
            too_long = len(line) > LONGEST_LINE
            while too_long and not line.endswith(b"\n") and (line := lines.readline(LONGEST_LINE)):
                pass
            if too_long:
                yield None
            elif line.strip():
                yield line


def guessed(body: dict[str, Any]) -> Tokens:
    """A token is some four characters; what is written is what may be, or what is usual."""
    return Tokens(max(1, len(json.dumps(body)) // _CHARACTERS_PER_TOKEN), _most_written(body))


def _most_written(body: dict[str, Any]) -> int:
    for name in ("max_completion_tokens", "max_tokens"):
        value = body.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return _USUAL_ANSWER
