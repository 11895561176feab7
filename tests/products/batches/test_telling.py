"""The push stream tells of batches: the very row that lists show."""

import json

from tests.engine.working import on_sqlite
from tests.products.batches.desk import Desk, request
from tests.server.api.site import ok
from towpath.batches import stored
from towpath.batches.views import views


@on_sqlite
async def test_what_is_told_of_a_batch_is_its_row_in_lists(desk: Desk):
    found = await desk.finished([request("a")])
    [told] = (await desk.app.projections["batch"]([found["id"], "0" * 36])).items()
    assert (told[0], told[1].tenant) == (found["id"], "north")
    [listed] = ok(await desk.ann.get("/api/batches"))["items"]
    assert json.loads(told[1].json) == listed


async def test_whoever_had_read_a_batch_just_before_it_ended_sees_its_end_with_its_counts(desk: Desk):
    batch_id = await desk.make([request("a"), request("b", fail=True)])
    before = await stored.find(desk.app, batch_id)
    async with desk.working():
        await desk.done(batch_id)
    [view] = await views(desk.app, [before])
    assert before.ok is None
    assert (view.status, view.batch.ok, view.batch.failed) == ("PARTIAL_COMPLETE", 1, 1)
