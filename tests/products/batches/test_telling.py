"""The push stream tells of batches: the very row that lists show."""

import json

from tests.engine.working import on_sqlite
from tests.products.batches.desk import Desk, request
from tests.server.api.site import ok


@on_sqlite
async def test_what_is_told_of_a_batch_is_its_row_in_lists(desk: Desk):
    found = await desk.finished([request("a")])
    [told] = (await desk.app.projections["batch"]([found["id"], "0" * 36])).items()
    assert (told[0], told[1].tenant) == (found["id"], "north")
    [listed] = ok(await desk.ann.get("/api/batches"))["items"]
    assert json.loads(told[1].json) == listed
