"""A hundred thousand jobs in the table: the page loads and shows only what is in view."""

import json
import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, expect
from pytest_asyncio import fixture

from tests.browser.conftest import Visit
from tests.browser.place import Place
from tests.engine.working import eventually
from towpath.core.ids import uuid7
from towpath.core.records import NewJob

pytestmark = pytest.mark.asyncio(loop_scope="session")

TENANT, JOBS, BATCH = "crowded", 100_000, 5_000
FEW = 150
NUMBERED = re.compile(r"^load \d+$")


@fixture(scope="module", loop_scope="session")
async def crowded(place: Place) -> AsyncIterator[Place]:
    """All of them wait in a queue that no worker serves."""
    store = place.app.services.store
    for first in range(0, JOBS, BATCH):
        await store.enqueue(
            [
                NewJob(uuid7(), "haul", "attic", json.dumps({"miles": 1}), tenant=TENANT, lane=TENANT, key=f"load {number}")
                for number in range(first, first + BATCH)
            ]
        )
    yield place


async def rows(page: Page) -> int:
    return await page.get_by_role("row").count()


async def oldest(page: Page) -> int:
    """The number of the last job that is in the document."""
    return int((await page.get_by_text(NUMBERED).last.inner_text()).split()[1])


async def test_the_table_opens_and_scrolls_and_few_rows_are_in_the_document(visit: Visit, crowded: Place):
    visitor = await visit()
    await visitor.enter(await crowded.person("reader", TENANT))
    page = await visitor.open("/jobs")
    await expect(page.get_by_text(f"load {JOBS - 1}", exact=True)).to_be_visible()
    assert 10 < await rows(page) < FEW

    async def far_down() -> bool:
        await page.get_by_role("rowgroup").evaluate("box => box.scrollTo(0, box.scrollHeight)")
        return await oldest(page) <= JOBS - 400

    await eventually(far_down)
    assert 10 < await rows(page) < FEW
    await expect(page.get_by_text(f"load {JOBS - 1}", exact=True)).to_have_count(0)


async def test_jobs_that_arrive_do_not_move_what_is_being_read(visit: Visit, crowded: Place):
    visitor = await visit()
    await visitor.enter(await crowded.person("watcher", TENANT))
    page = await visitor.open("/jobs")
    await expect(page.get_by_text("Live", exact=True)).to_be_visible()
    table, middle = page.get_by_role("rowgroup"), page.get_by_text(f"load {JOBS - 50}", exact=True)
    await table.evaluate("box => box.scrollTo(0, 40 * 34)")
    await expect(middle).to_be_in_viewport()
    before = await middle.bounding_box()
    await crowded.make("say", "hello", TENANT)
    await expect(page.get_by_role("button", name="1 new job")).to_be_visible()
    assert await middle.bounding_box() == before
    await page.get_by_role("button", name="1 new job").click()
    await expect(page.get_by_role("link", name="say", exact=True)).to_be_in_viewport()


async def test_home_and_the_queue_open_as_with_a_few(visit: Visit, crowded: Place):
    visitor = await visit()
    await visitor.enter(await crowded.person("onlooker", TENANT))
    page = await visitor.open("/")
    await expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"At least \d,\d+ jobs in the queue"))
    await visitor.open("/queues/attic")
    await expect(page.get_by_role("row").filter(has_text=TENANT)).to_contain_text("100 %")
