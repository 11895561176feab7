"""What a job works on goes in by every way, comes out with the claim, and finds the job again."""

import pytest

from tests.contracts.stores import new_job
from towpath.core import transitions
from towpath.core.outcomes import Failure

SUBJECT = {"subject_kind": "recording", "subject_id": "r 1"}


async def test_a_single_job_keeps_its_subject_and_tells_its_worker(hands):
    started = await hands.start(**SUBJECT)
    assert started.subject == ("recording", "r 1")
    assert (await hands.job(started.id)).subject == ("recording", "r 1")


async def test_jobs_without_a_subject_have_none(hands):
    started = await hands.start()
    assert started.subject is None
    assert (await hands.job(started.id)).subject is None


async def test_jobs_that_are_alike_have_their_subject_in_common(hands):
    ids = await hands.enqueue_many(3, **SUBJECT)
    assert {job.subject for job in await hands.jobs(*ids)} == {("recording", "r 1")}


async def test_jobs_of_different_subjects_are_not_alike(hands):
    asked = [new_job(subject_kind="recording", subject_id=str(number)) for number in range(3)] + [new_job()]
    await hands.store.enqueue(asked)
    found = {job.id: job.subject for job in await hands.jobs(*(job.id for job in asked))}
    assert [found[job.id] for job in asked] == [("recording", "0"), ("recording", "1"), ("recording", "2"), None]


async def test_a_caller_s_own_transaction_carries_it(hands):
    async with hands.store.transaction() as tx:
        [made] = await tx.insert_jobs([new_job(**SUBJECT)])
        alike = await tx.insert_jobs([new_job(**SUBJECT) for _ in range(2)])
        unlike = await tx.insert_jobs([new_job(**SUBJECT), new_job(cost=2.0)])
    jobs = {job.id: job.subject for job in await hands.jobs(*(one.id for one in [made, *alike, *unlike]))}
    assert [jobs[one.id] for one in [made, *alike, unlike[0]]] == [("recording", "r 1")] * 4
    assert jobs[unlike[1].id] is None


async def test_it_stays_with_the_job_through_its_end_and_a_requeue(hands):
    started = await hands.start(**SUBJECT)
    await hands.settle(transitions.fail(started.id, started.attempt, Failure("fatal", "Fatal", "broken")))
    await hands.apply(transitions.requeue(started.id))
    [again] = await hands.claim()
    assert (again.id, again.subject) == (started.id, ("recording", "r 1"))


@pytest.mark.parametrize("half", ["subject_kind", "subject_id"])
async def test_half_a_subject_is_refused_by_the_database_itself(hands, half):
    for jobs in ([new_job(**{half: "x"})], [new_job(**{half: "x"}) for _ in range(2)]):
        with pytest.raises(Exception, match=r"(?i)constraint"):
            await hands.store.enqueue(jobs)
    assert await hands.count("job") == 0
