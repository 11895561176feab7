"""Pages of lists with a filter that no query can ask for."""

from collections.abc import Callable, Sequence

import pytest

from towpath.http import shapes


class Things:
    """Numbers as ids, newest first; it remembers how many were looked at."""

    def __init__(self, count: int) -> None:
        self.ids = [f"{number:05}" for number in range(count, 0, -1)]
        self.looked_at = 0

    async def look(self, before: str | None, count: int) -> Sequence[str]:
        found = [one for one in self.ids if one < (before or shapes.LAST)][:count]
        self.looked_at += len(found)
        return found


async def page(things: Things, fits: Callable[[str], bool], *, after: str | None = None, limit: int) -> shapes.Page[str]:
    return await shapes.page_of_fitting(things.look, fits, str, str, after=after, limit=limit)


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("every", [1, 2, 3, 10, 100])
async def test_page_by_page_everything_that_fits_comes_once_and_in_order(limit, every):
    things, found, after = Things(60), [], None
    while True:
        one = await page(things, lambda it: int(it) % every == 0, after=after, limit=limit)
        assert len(one.items) <= limit
        found += one.items
        if one.next is None:
            break
        after = one.next
    assert found == [it for it in things.ids if int(it) % every == 0]


async def test_a_page_that_is_full_goes_on_after_the_last_row_that_was_looked_at():
    one = await page(Things(20), lambda it: int(it) % 2 == 0, limit=3)
    assert (one.items, one.next) == (["00020", "00018", "00016"], "00015")


async def test_what_fits_and_has_no_room_left_is_on_the_next_page():
    one = await page(Things(20), lambda it: it not in ("00020", "00019"), limit=3)
    assert (one.items, one.next) == (["00018", "00017", "00016"], "00016")


async def test_a_last_page_has_no_next():
    assert (await page(Things(3), lambda _: True, limit=3)).next is None
    assert (await page(Things(0), lambda _: True, limit=3)).items == []


async def test_a_search_that_finds_nothing_stops_and_can_be_gone_on_with():
    things = Things(5000)
    one = await page(things, lambda it: it == "00001", limit=100)
    assert one.items == []
    assert things.looked_at < 1200
    assert one.next == "04001"
