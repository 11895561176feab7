"""Deleting and pruning beside somebody who wants the job back."""

from datetime import timedelta

from tests.interleaving.scene import Scene
from tests.interleaving.stage import Stage
from towpath.core import transitions
from towpath.core.ids import uuid7
from towpath.core.provider_jobs import ProviderJob
from towpath.engine.changing import deleting
from towpath.engine.tending import retention
from towpath.store import provider_journal
from towpath.store.contract import Tx

_ORPHANS = {
    "sqlite": "SELECT count(*) AS n FROM towpath_event WHERE job_id NOT IN (SELECT id FROM towpath_job)",
    "postgres": "SELECT count(*) AS n FROM towpath.event WHERE job_id NOT IN (SELECT id FROM towpath.job)",
}


async def orphans(scene: Scene) -> int:
    [row] = await scene.store.read(lambda tx: tx.fetch_sql(_ORPHANS[tx.dialect]))
    return int(row["n"])


async def test_a_job_that_is_requeued_while_it_is_deleted_lives_or_is_gone_entirely(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        await scene.fail(job)()
        done = await scene.together(
            delete=lambda: deleting.delete_tree(scene.services, job.id), requeue=scene.requeue(job.id)
        )
        left = [row.state for row in await scene.jobs()]
        assert left == ([] if done["delete"] == 1 else ["queued"])
        assert (done["requeue"] == [None]) == bool(left)
        assert await orphans(scene) == 0

    await stage.every_order(play)


async def test_a_child_that_is_requeued_while_its_tree_is_pruned_lives_with_its_parent_or_goes_with_it(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent, [child] = await scene.family(1)
        await scene.fail(child)()
        await scene.grow_old()
        old = retention.RootFilter(["failed"], scene.queue)
        done = await scene.together(
            prune=lambda: retention.prune_older(scene.services, old, timedelta(0)),
            requeue=scene.requeue(child.id),
        )
        left = {row.id: row.state.value for row in await scene.jobs()}
        if done["prune"]:
            assert (left, done["prune"]) == ({}, 2)
        else:
            assert left == {parent.id: "waiting", child.id: "queued"}
        assert (done["requeue"] == [None]) == bool(left)
        assert await orphans(scene) == 0

    await stage.every_order(play)


async def test_an_order_that_is_stopped_while_its_job_is_deleted_goes_with_it(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        order = ProviderJob(uuid7(), job.id, "submit", 0, "default", "P", "m", 0, f"key-{job.id}", "{}")
        await scene.store.run(lambda tx: provider_journal.intend(tx, job.id, job.attempt, "submit", [order]))
        await scene.cancel(job.id)()
        await scene.settle(transitions.handler_ended(job.id, job.attempt))()

        async def stop(tx: Tx) -> None:
            await provider_journal.end_by_hand(tx, order, None)

        async def stopping() -> None:
            await scene.store.run(stop)
            await scene.store.run(lambda tx: provider_journal.forget(tx, [order]))

        await scene.together(delete=lambda: deleting.delete_tree(scene.services, job.id), stop=stopping)
        assert job.id not in [row.id for row in await scene.jobs()]
        assert await scene.store.read(lambda tx: provider_journal.by_ids(tx, [order.id])) == []

    await stage.every_order(play, drain=False)
