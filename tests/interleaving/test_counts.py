"""The counts that pages show, compacted by any number of processes while jobs go on moving."""

from functools import partial

from tests.interleaving.scene import Scene
from tests.interleaving.stage import Stage
from towpath.engine.tending.rollups import roll_up


async def test_two_compactions_beside_a_settle_count_everything_once(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        await scene.add()
        compact = partial(roll_up, scene.store)
        await scene.together(one=compact, other=compact, settle=scene.succeed(job))

    # That the depths equal the rows is checked after every scene.
    await stage.every_order(play)
