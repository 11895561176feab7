"""A key stands for one live job, whoever comes at the same moment."""

from tests.interleaving.scene import Scene
from tests.interleaving.stage import Stage
from towpath.core.failpoints import reach


async def test_of_two_enqueues_with_one_key_one_makes_the_job_and_both_get_it(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        done = await scene.together(one=scene.enqueue(scene.new(key="k")), other=scene.enqueue(scene.new(key="k")))
        [one], [other] = done["one"], done["other"]
        assert one.id == other.id
        assert one.created != other.created
        assert len(await scene.jobs()) == 1

    await stage.every_order(play)


async def test_two_bulks_with_the_same_keys_in_opposite_order_end_without_a_deadlock(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        there = [scene.new(key=key, lane="there") for key in ("a", "b")]
        back = [scene.new(key=key, lane="back") for key in ("b", "a")]
        done = await scene.together(there=scene.enqueue(*there), back=scene.enqueue(*back))
        assert {made.id for made in done["there"]} == {made.id for made in done["back"]}
        assert len(await scene.jobs()) == 2

    await stage.every_order(play)


async def test_a_key_whose_holder_ends_meanwhile_is_found_held_or_taken_anew(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        holder = await scene.running(key="k")
        done = await scene.together(end=scene.succeed(holder), enqueue=scene.enqueue(scene.new(key="k")))
        assert done["end"] == [None]
        [made] = done["enqueue"]
        assert made.created == (made.id != holder.id)
        live = [job for job in await scene.jobs() if job.live]
        assert [job.id for job in live] == ([made.id] if made.created else [])

    await stage.every_order(play)


async def test_a_job_is_not_requeued_beside_a_new_holder_of_its_key(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        old = await scene.running(key="k")
        await scene.fail(old)()
        done = await scene.together(requeue=scene.requeue(old.id), enqueue=scene.enqueue(scene.new(key="k")))
        [made] = done["enqueue"]
        if made.created:
            assert isinstance(done["requeue"], list)
            assert made.id in str(done["requeue"][0])
            assert (await scene.job(old.id)).state == "failed"
        else:
            assert (done["requeue"], made.id) == ([None], old.id)

    await stage.every_order(play)


async def test_a_key_in_somebodys_open_transaction_is_waited_for(postgres_stage: Stage) -> None:
    """Only one of them can have it; who comes second waits for the first one's commit, and then gets its job."""

    async def play(scene: Scene) -> None:
        mine, yours = scene.new(key="k"), scene.new(key="k")

        async def in_a_transaction() -> str:
            async with scene.store.transaction() as tx:
                [made] = await tx.insert_jobs([mine])
                await reach("not committed yet")
            return made.id

        done = await scene.together(transaction=in_a_transaction, enqueue=scene.enqueue(yours))
        [made] = done["enqueue"]
        assert made.id == done["transaction"]
        assert [job.id for job in await scene.jobs()] == [made.id]

    scenes = await postgres_stage.every_order(play)
    assert any("enqueue" in scene.waited for scene in scenes)


async def test_a_requeue_beside_an_open_transaction_with_its_key_is_refused_when_that_commits(postgres_stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        old = await scene.running(key="k")
        await scene.fail(old)()

        async def in_a_transaction() -> str:
            async with scene.store.transaction() as tx:
                [made] = await tx.insert_jobs([scene.new(key="k")])
                await reach("not committed yet")
            return made.id

        done = await scene.together(transaction=in_a_transaction, requeue=scene.requeue(old.id))
        if done["transaction"] == old.id:
            assert done["requeue"] == [None]
        else:
            assert done["transaction"] in str(done["requeue"][0])

    scenes = await postgres_stage.every_order(play)
    assert any("requeue" in scene.waited for scene in scenes)
