"""A second reading of the protocol: our adapter for OpenAI, against our own server. Neither knows of the other."""

import asyncio

import pytest

from tests.openai_api.front import Front
from tests.providers.cases import MemoryFiles, completion
from towpath.providers import Phase, Vanished
from towpath.providers.openai import OpenAI
from towpath.providers.openai_compatible import OpenAICompatible


@pytest.fixture(params=[OpenAI, OpenAICompatible])
def adapter(request: pytest.FixtureRequest, front: Front):
    return request.param(api_key=front.site.secrets["ann"], base_url=f"{front.url}/v1")


def order(files: MemoryFiles, count: int = 3):
    said = {1: "bad"}
    return completion(
        files, "tow-1", count, "m", lambda n: {"messages": [{"role": "user", "content": said.get(n, f"question {n}")}]}
    )


async def test_an_order_is_found_polled_fetched_and_cleaned(front: Front, adapter):
    files = MemoryFiles()
    asked = order(files)
    await adapter.check(asked)
    prepared = await adapter.prepare(asked, files)
    assert await adapter.find(asked, prepared) is None
    external = await adapter.submit(asked, prepared)
    found = await adapter.find(asked, prepared)
    assert found is not None
    assert found.external_id == external
    async with front.working(), asyncio.timeout(60):
        while not (answer := await adapter.poll(asked, prepared, external)).phase.ended:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert answer.phase is Phase.PARTIAL
    assert answer.counts is not None
    assert (answer.counts.total, answer.counts.completed, answer.counts.failed) == (3, 2, 1)
    results = {result.ref: result async for result in adapter.fetch(asked, prepared, external)}
    assert {ref: result.ok for ref, result in results.items()} == {"r0": True, "r1": False, "r2": True}
    assert (results["r0"].tokens_in, results["r0"].tokens_out) == (7, 3)
    assert "QUESTION 0" in str(results["r0"].body)
    await adapter.clean(asked, prepared)
    await adapter.clean(asked, prepared)
    await adapter.aclose()


async def test_cancelling_reaches_it_and_twice_is_once(front: Front, adapter):
    files = MemoryFiles()
    asked = order(files)
    prepared = await adapter.prepare(asked, files)
    external = await adapter.submit(asked, prepared)
    await adapter.cancel(asked, prepared, external)
    await adapter.cancel(asked, prepared, external)
    assert (await adapter.poll(asked, prepared, external)).phase is Phase.CANCELLED
    with pytest.raises(Vanished):
        await adapter.poll(asked, prepared, "batch_" + "0" * 32)
    await adapter.aclose()
