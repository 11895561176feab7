"""What is particular to Vertex AI's batch prediction: buckets, labels, names."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import google.auth
import pytest
from google.auth.exceptions import DefaultCredentialsError

from tests.providers.cases import MemoryFiles, completion
from tests.providers.vertex import OUTPUT, adapter
from tests.providers.vertex import order as an_order
from towpath import ConfigurationError, Fatal, SchemaInvalid, Transient
from towpath.providers import Order, Phase, Prepared, Provider
from towpath.providers.chat_bodies import Untranslatable
from towpath.providers.simulator import served
from towpath.providers.simulator.vertex import VertexSimulator
from towpath.providers.vertex import Vertex, labels_of, ref_of


@pytest.fixture
def simulator() -> Iterator[VertexSimulator]:
    made = VertexSimulator()
    with served(made):
        yield made


@pytest.fixture
async def provider(simulator: VertexSimulator) -> AsyncIterator[Provider]:
    made = adapter(simulator)
    yield made
    await made.aclose()


async def ended(provider: Provider, order: Order, files: MemoryFiles) -> tuple[Prepared, str]:
    prepared = await provider.prepare(order, files)
    external_id = await provider.submit(order, prepared)
    while not (await provider.poll(order, prepared, external_id)).phase.ended:
        pass
    return prepared, external_id


def asking(files: MemoryFiles, *bodies: dict[str, Any]) -> Order:
    return replace(completion(files, "tow-1", len(bodies), "gemini-3.8-flash", lambda number: bodies[number]), output=OUTPUT)


def hello(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "hello"}], **fields}


async def test_requests_and_results_lie_in_a_folder_of_the_order(provider: Provider, simulator: VertexSimulator):
    files = MemoryFiles()
    order = asking(files, {"messages": [{"role": "user", "content": "two\u2028lines"}]}, hello(tools=[]))
    prepared, external_id = await ended(provider, order, files)
    assert external_id.startswith("projects/our-project/locations/europe-west4/batchPredictionJobs/")
    assert all(uri.startswith(f"{OUTPUT}tow-1/") for uri in simulator.files)
    answer = await provider.poll(order, prepared, external_id)
    assert answer.output_uri is not None
    assert answer.output_uri.startswith(f"{OUTPUT}tow-1/results/")
    assert answer.counts is not None
    assert answer.counts.completed == 1
    results = {result.ref: result async for result in provider.fetch(order, prepared, external_id)}
    assert results["r0"].body["text"] == "You said: two\u2028lines"
    assert results["r0"].tokens_in
    assert results["r1"].code == "unsupported"
    await provider.clean(order, prepared)
    assert f"{OUTPUT}tow-1/requests.jsonl" not in simulator.files


async def test_a_request_that_fails_says_so_in_its_row(provider: Provider, simulator: VertexSimulator):
    files = MemoryFiles()
    order = asking(files, hello(), hello())
    prepared = await provider.prepare(order, files)
    external_id = await provider.submit(order, prepared)
    simulator.jobs[external_id].request["lines"][1]["request"]["contents"][0]["role"] = "robot"
    while not (answer := await provider.poll(order, prepared, external_id)).phase.ended:
        pass
    assert answer.phase is Phase.PARTIAL
    results = {result.ref: result async for result in provider.fetch(order, prepared, external_id)}
    assert results["r0"].ok
    assert "role" in str(results["r1"].error)


async def test_results_in_several_files_are_all_read(provider: Provider, simulator: VertexSimulator):
    files = MemoryFiles()
    order = an_order(files, "tow-1", 2)
    prepared, external_id = await ended(provider, order, files)
    uri = next(uri for uri in simulator.files if uri.endswith("/predictions.jsonl"))
    first, second = simulator.files.pop(uri).splitlines(keepends=True)
    folder = uri.removesuffix("predictions.jsonl")
    simulator.files[f"{folder}prediction.results-00000-of-00002.jsonl"] = first
    simulator.files[f"{folder}prediction.results-00001-of-00002.jsonl"] = second
    simulator.files[f"{folder}errors.log"] = b"not a result"
    simulator._job_of = lambda job, state, made=simulator._job_of: _unwritten(simulator, made, job, state)  # type: ignore[method-assign]
    assert {result.ref async for result in provider.fetch(order, prepared, external_id)} == {"r0", "r1"}


def _unwritten(simulator: VertexSimulator, made: Any, job: Any, state: str) -> Any:
    """The job, without its results being written anew."""
    before = dict(simulator.files)
    found = made(job, state)
    simulator.files.clear()
    simulator.files |= before
    return found


@pytest.mark.parametrize("ref", ["r0", "a_b-c", "A.B", "ünï cödé", "x" * 64, "X" * 300])
def test_a_ref_comes_back_from_its_labels(ref: str):
    labels = labels_of(ref)
    assert all(len(value) <= 63 and set(value) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-") for value in labels.values())
    assert ref_of(json.loads(json.dumps(labels))) == ref


def test_a_ref_that_is_too_long_is_refused():
    with pytest.raises(Untranslatable, match="315 bytes"):
        labels_of("X" * 316)


@pytest.mark.parametrize("labels", [{}, {"somebody": "else"}, {"towpath_ref_0": "!"}])
def test_results_that_do_not_say_whose_they_are_are_given_to_nobody(labels: dict[str, str]):
    with pytest.raises(Fatal, match="labels"):
        ref_of(labels)


async def test_a_key_that_is_longer_than_a_name_is_found_all_the_same(provider: Provider, simulator: VertexSimulator):
    files = MemoryFiles()
    order, twin = an_order(files, "k" * 199 + "a", 1), an_order(files, "k" * 199 + "b", 1)
    external_id = await provider.submit(order, await provider.prepare(order, files))
    other = await provider.submit(twin, await provider.prepare(twin, files))
    for wanted, its_id in ((order, external_id), (twin, other)):
        found = await provider.find(wanted, {})
        assert found is not None
        assert found.external_id == its_id
    assert not simulator.ledger.twice


async def test_what_is_missing_is_told_before_anything_is_written(monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as bare:
        bare.setitem(sys.modules, "obstore.store", None)
        with pytest.raises(ConfigurationError, match="bucket"):
            await Vertex(project="our-project", location="europe-west4").check()
    for name in ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def nobody(**options: Any) -> Any:
        raise DefaultCredentialsError("none")

    monkeypatch.setattr(google.auth, "default", nobody)
    with pytest.raises(ConfigurationError, match="GOOGLE_CLOUD_PROJECT"):
        await Vertex(bucket=Folder(Path())).check()


@pytest.mark.parametrize("output", [None, "", "s3://bucket/folder/", "gs://", "bucket/folder"])
async def test_an_order_without_a_folder_in_cloud_storage_is_refused(output: str | None):
    provider = Vertex(project="our-project", location="europe-west4", bucket=Folder(Path()))
    with pytest.raises(SchemaInvalid) as refused:
        await provider.check(replace(an_order(MemoryFiles(), "tow-1", 1), output=output))
    assert refused.value.path == "output"


class Folder:
    """A bucket that is a folder, for one who has none."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def _at(self, uri: str) -> Path:
        return self._root / uri.removeprefix("gs://")

    async def open(self, uri: str) -> AsyncGenerator[bytes, None]:
        yield await asyncio.to_thread(self._at(uri).read_bytes)

    async def write(self, uri: str, chunks: AsyncIterable[bytes]) -> None:
        self._at(uri).parent.mkdir(parents=True, exist_ok=True)
        self._at(uri).write_bytes(b"".join([chunk async for chunk in chunks]))

    async def list(self, folder: str) -> AsyncGenerator[str, None]:
        for path in sorted(self._at(folder).rglob("*")):
            yield f"gs://{path.relative_to(self._root)}"

    async def delete(self, uri: str) -> None:
        self._at(uri).unlink(missing_ok=True)


async def test_any_bucket_does(tmp_path: Path):
    provider, files = Vertex(project="p", location="l", bucket=Folder(tmp_path)), MemoryFiles()
    order = an_order(files, "tow-1", 2)
    prepared = await provider.prepare(order, files)
    held = tmp_path / "our-bucket/batches/tow-1/requests.jsonl"
    written = held.read_text().splitlines()
    assert [json.loads(line)["request"]["labels"] for line in written] == [{"towpath_ref": "r0"}, {"towpath_ref": "r1"}]
    await provider.clean(order, prepared)
    await provider.clean(order, prepared)
    assert not held.exists()


class Broken(Folder):
    async def open(self, uri: str) -> AsyncGenerator[bytes, None]:
        yield b'{"request": '
        raise ConnectionResetError

    async def list(self, folder: str) -> AsyncGenerator[str, None]:
        yield f"{folder}predictions.jsonl"


async def test_a_bucket_that_breaks_off_is_transient(simulator: VertexSimulator):
    provider, files = adapter(simulator), MemoryFiles()
    order = an_order(files, "tow-1", 1)
    prepared, external_id = await ended(provider, order, files)
    provider._bucket = Broken(Path())  # type: ignore[attr-defined]
    with pytest.raises(Transient, match="broke off"):
        _ = [result async for result in provider.fetch(order, prepared, external_id)]
    await provider.aclose()
