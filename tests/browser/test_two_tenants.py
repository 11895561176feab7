"""Two people of two tenants at two browsers: neither sees anything of the other's, listed or live."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Visit
from tests.browser.place import Place, fresh
from tests.browser.visitors import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def newcomer(visit: Visit, place: Place) -> tuple[Visitor, str]:
    visitor, tenant = await visit(), fresh("tenant")
    await visitor.enter(await place.person(fresh("ann"), tenant))
    return visitor, tenant


async def test_neither_sees_the_jobs_of_the_other_listed_or_live(visit: Visit, place: Place):
    (ann, north), (bob, south) = await newcomer(visit, place), await newcomer(visit, place)
    earlier = {tenant: await place.done("say", "hello", tenant, key=f"before {tenant}") for tenant in (north, south)}
    for visitor in (ann, bob):
        await visitor.open("/jobs")
        await expect(visitor.page.get_by_text("Live", exact=True)).to_be_visible()
    for tenant in (south, north):
        await place.done("say", "hello", tenant, key=f"after {tenant}")
    await place.done("say", "hello", south, key=f"last {south}")
    await place.done("say", "hello", north, key=f"last {north}")
    for visitor, own, foreign in ((ann, north, south), (bob, south, north)):
        page = visitor.page
        for moment in ("before", "after", "last"):
            await expect(page.get_by_text(f"{moment} {own}")).to_be_visible()
        await expect(page.get_by_role("row")).to_have_count(4)
        await expect(page.get_by_text(foreign)).to_have_count(0)
        visitor.expects("status of 404")
        await visitor.open(f"/jobs/{earlier[foreign].id}")
        await expect(page.get_by_role("heading", name="There is no such job")).to_be_visible()


async def test_neither_sees_the_failures_or_the_figures_of_the_other(visit: Visit, place: Place):
    (ann, _), (bob, south) = await newcomer(visit, place), await newcomer(visit, place)
    await place.done("mend", {"name": "old", "height": 1}, south)
    await ann.open("/inbox")
    await expect(ann.page.get_by_role("heading", name="The inbox is empty")).to_be_visible()
    await ann.open("/")
    await expect(ann.page.get_by_role("heading", level=1)).to_have_text("All is quiet")
    await expect(ann.page.get_by_text("Nothing has failed.")).to_be_visible()
    await bob.open("/inbox")
    await expect(bob.page.get_by_text("1 job failed for good")).to_be_visible()


async def test_who_belongs_to_both_switches_between_them_and_an_administrator_sees_all(
    visit: Visit, place: Place, root: Visitor
):
    north, south = fresh("tenant"), fresh("tenant")
    for tenant in (north, south):
        await place.done("say", "hello", tenant, key=f"of {tenant}")
    ann = await visit()
    name = fresh("ann")
    await ann.enter(await place.person(name, north, south))
    page = await ann.open("/jobs")
    await expect(page.get_by_text(f"of {north}")).to_be_visible()
    await expect(page.get_by_text(f"of {south}")).to_have_count(0)
    await page.get_by_role("button", name=name).click()
    await page.get_by_role("menuitem", name=f"Act for {south}").click()
    await expect(page.get_by_text(f"of {south}")).to_be_visible()
    await expect(page.get_by_text(f"of {north}")).to_have_count(0)
    await root.open("/jobs")
    for tenant in (north, south):
        await expect(root.page.get_by_text(f"of {tenant}")).to_be_visible()
