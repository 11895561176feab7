"""What every batch provider promises, through its real SDK against its simulator over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest

from tests.providers.cases import CASES, Case, MemoryFiles
from towpath import Fatal, RateLimited, Transient
from towpath.providers import Answer, Grade, Order, Phase, Prepared, Probing, Provider, Result, Vanished
from towpath.providers.simulator import Fault, Simulator, served
from towpath.providers.simulator.simulator import RETRY_AFTER

# Google's library warns of a status that it does not know, which is what one of these tests is about.
pytestmark = pytest.mark.filterwarnings("ignore:.* is not a valid JobState:UserWarning")


@dataclass
class Bench:
    case: Case
    simulator: Simulator
    provider: Provider
    files: MemoryFiles

    def order(self, key: str = "tow-0198-a", count: int = 3) -> Order:
        """Of so many parts, or as many as one job takes."""
        return self.case.order(self.files, key, min(count, self.provider.limits.count or count))

    async def prepared(self, order: Order) -> Prepared:
        await self.provider.check(order)
        return await self.provider.prepare(order, self.files)

    async def submitted(self, order: Order) -> tuple[Prepared, str]:
        prepared = await self.prepared(order)
        return prepared, await self.provider.submit(order, prepared)

    async def ended(self, order: Order, prepared: Prepared, external_id: str) -> Answer:
        for _ in range(12):
            answer = await self.provider.poll(order, prepared, external_id)
            if answer.phase.ended:
                return answer
        raise AssertionError(f"it has not ended, but is {answer.status}")

    async def results(self, order: Order, prepared: Prepared, external_id: str) -> dict[str, Result]:
        found = [result async for result in self.provider.fetch(order, prepared, external_id)]
        by_ref = {result.ref: result for result in found}
        assert len(by_ref) == len(found)
        return by_ref


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture
def simulator(case: Case) -> Iterator[Simulator]:
    made = case.simulator()
    with served(made):
        yield made


@pytest.fixture
async def bench(case: Case, simulator: Simulator) -> AsyncIterator[Bench]:
    provider = case.adapter(simulator)
    yield Bench(case, simulator, provider, MemoryFiles())
    await provider.aclose()


def refs(order: Order) -> set[str]:
    return {f"r{number}" for number in range(order.count)}


def arm(bench: Bench, fault: Fault, times: int = 1) -> None:
    if fault.value in bench.case.skips:
        pytest.skip(f"{bench.case.name} cannot have it, see tests/providers/{bench.case.module}.py")
    bench.simulator.arm(fault, times)


async def test_an_order_is_submitted_polled_fetched_and_cleaned_up(bench: Bench):
    order = bench.order()
    prepared, external_id = await bench.submitted(order)
    first = await bench.provider.poll(order, prepared, external_id)
    assert first.phase is Phase.RUNNING
    assert first.status
    answer = await bench.ended(order, prepared, external_id)
    assert answer.phase is Phase.COMPLETED
    results = await bench.results(order, prepared, external_id)
    assert set(results) == refs(order)
    assert all(result.ok and result.body for result in results.values())
    assert [(paid.external_id, paid.units) for paid in bench.simulator.ledger.paid] == [(external_id, order.count)]
    await bench.provider.clean(order, prepared)
    await bench.provider.clean(order, prepared)


async def test_the_same_order_prepared_twice_is_paid_for_once(bench: Bench):
    order = bench.order()
    await bench.prepared(order)
    await bench.submitted(order)
    assert len(bench.simulator.ledger.paid) == 1


async def test_what_was_submitted_is_found_by_its_key(bench: Bench):
    order = bench.order()
    prepared, external_id = await bench.submitted(order)
    other = bench.order("tow-0198-b")
    await bench.submitted(other)
    found = await bench.provider.find(order, prepared)
    if bench.provider.grade is not Grade.AMBIGUOUS:
        assert found is not None
    assert found is None or found.external_id == external_id


async def test_what_was_never_submitted_is_not_found(bench: Bench):
    await bench.submitted(bench.order("tow-0198-other"))
    order = bench.order()
    prepared = await bench.prepared(order)
    assert await bench.provider.find(order, prepared) is None


async def test_an_order_whose_answer_was_lost_is_found_and_not_paid_for_again(bench: Bench):
    arm(bench, Fault.LOST_ANSWER)
    order = bench.order()
    prepared = await bench.prepared(order)
    with pytest.raises(Transient):
        await bench.provider.submit(order, prepared)
    assert len(bench.simulator.ledger.paid) == 1
    found = await bench.provider.find(order, prepared)
    if bench.provider.grade is Grade.AMBIGUOUS:
        return
    assert found is not None
    assert found.external_id == bench.simulator.ledger.paid[0].external_id
    assert (await bench.ended(order, prepared, found.external_id)).phase is Phase.COMPLETED
    assert not bench.simulator.ledger.twice


async def test_a_named_job_that_is_there_is_answered_instead_of_a_second_one(bench: Bench):
    if bench.provider.grade is not Grade.NAMED:
        pytest.skip("only jobs that bear our name are refused a second time")
    order = bench.order()
    prepared, external_id = await bench.submitted(order)
    assert await bench.provider.submit(order, prepared) == external_id
    assert len(bench.simulator.ledger.paid) == 1


async def test_the_time_a_provider_asks_for_is_passed_on(bench: Bench):
    order = bench.order()
    prepared, external_id = await bench.submitted(order)
    arm(bench, Fault.RATE_LIMITED)
    with pytest.raises(RateLimited) as refused:
        await bench.provider.poll(order, prepared, external_id)
    assert refused.value.retry_after == RETRY_AFTER
    assert (await bench.ended(order, prepared, external_id)).phase is Phase.COMPLETED


async def test_a_submission_that_is_rate_limited_was_not_made(bench: Bench):
    order = bench.order()
    prepared = await bench.prepared(order)
    arm(bench, Fault.RATE_LIMITED)
    with pytest.raises(RateLimited):
        await bench.provider.submit(order, prepared)
    assert bench.simulator.ledger.paid == []
    await bench.provider.submit(order, prepared)


async def test_a_provider_that_is_away_is_transient(bench: Bench):
    order = bench.order()
    prepared, external_id = await bench.submitted(order)
    arm(bench, Fault.UNAVAILABLE)
    with pytest.raises(Transient):
        await bench.provider.poll(order, prepared, external_id)
    assert (await bench.ended(order, prepared, external_id)).phase is Phase.COMPLETED


async def test_credentials_that_are_no_longer_good_are_fatal_and_not_told(bench: Bench):
    order = bench.order()
    prepared, external_id = await bench.submitted(order)
    arm(bench, Fault.DENIED)
    with pytest.raises(Fatal) as refused:
        await bench.provider.poll(order, prepared, external_id)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("fault", [Fault.BACKWARDS, Fault.UNKNOWN_STATUS])
async def test_a_status_that_moves_back_or_is_unheard_of_is_still_running(bench: Bench, fault: Fault):
    arm(bench, fault)
    order = bench.order()
    prepared, external_id = await bench.submitted(order)
    answers = [await bench.provider.poll(order, prepared, external_id) for _ in range(2)]
    assert [answer.phase for answer in answers] == [Phase.RUNNING, Phase.RUNNING]
    assert (await bench.ended(order, prepared, external_id)).phase is Phase.COMPLETED


async def test_a_part_that_failed_has_its_reason_and_the_rest_its_results(bench: Bench):
    arm(bench, Fault.PARTIAL)
    order = bench.order()
    prepared, external_id = await bench.submitted(order)
    assert (await bench.ended(order, prepared, external_id)).phase in (Phase.PARTIAL, Phase.COMPLETED)
    results = await bench.results(order, prepared, external_id)
    assert results["r0"].ok
    assert results["r2"].ok
    assert "r1" in results
    assert not results["r1"].ok
    assert results["r1"].error


async def test_a_job_that_failed_says_why(bench: Bench):
    arm(bench, Fault.FAILS)
    order = bench.order()
    prepared, external_id = await bench.submitted(order)
    answer = await bench.ended(order, prepared, external_id)
    if answer.phase is Phase.FAILED:
        assert answer.error
    else:  # providers that end a batch however its requests end
        results = await bench.results(order, prepared, external_id)
        assert results
        assert not any(result.ok for result in results.values())


async def test_a_job_that_never_ends_goes_on_running(bench: Bench):
    arm(bench, Fault.NEVER_ENDS)
    order = bench.order()
    prepared, external_id = await bench.submitted(order)
    for _ in range(5):
        assert (await bench.provider.poll(order, prepared, external_id)).phase is Phase.RUNNING


async def test_a_job_that_is_gone_is_told_apart_from_an_outage(bench: Bench):
    arm(bench, Fault.VANISHES)
    order = bench.order()
    prepared, external_id = await bench.submitted(order)
    await bench.provider.poll(order, prepared, external_id)
    with pytest.raises(Vanished):
        await bench.provider.poll(order, prepared, external_id)


@pytest.mark.parametrize("fault", [Fault.TRUNCATED, Fault.EXPIRED_URL])
async def test_results_that_break_off_or_whose_link_expired_are_fetched_again(bench: Bench, fault: Fault):
    order = bench.order()
    prepared, external_id = await bench.submitted(order)
    await bench.ended(order, prepared, external_id)
    arm(bench, fault)
    try:
        results = await bench.results(order, prepared, external_id)
    except Transient:
        results = await bench.results(order, prepared, external_id)
    assert set(results) == refs(order)
    assert not bench.simulator.faults.left([fault])


async def test_cancelling_reaches_the_provider_and_may_be_repeated(bench: Bench):
    if not bench.provider.cancels:
        pytest.skip("its jobs cannot be stopped")
    arm(bench, Fault.NEVER_ENDS)
    order = bench.order()
    prepared, external_id = await bench.submitted(order)
    await bench.provider.cancel(order, prepared, external_id)
    await bench.provider.cancel(order, prepared, external_id)
    try:
        answer = await bench.ended(order, prepared, external_id)
    except Vanished:  # providers whose only way to stop a job is to delete it
        return
    assert answer.phase is Phase.CANCELLED


async def test_many_orders_at_once_do_not_get_into_each_others_way(bench: Bench):
    orders = [bench.order(f"tow-0198-{number}", count=1) for number in range(5)]
    ids = await asyncio.gather(*(bench.submitted(order) for order in orders))
    assert len({external_id for _, external_id in ids}) == 5
    assert not bench.simulator.ledger.twice


async def test_a_callback_without_its_signature_is_nobodys(bench: Bench):
    assert bench.provider.called_back({}, b"{}") is None
    assert bench.provider.called_back({"x-signature": "nonsense"}, b"\xff\x00") is None


class TestAProbe:
    """What `towpath doctor --provider` asks; it is in the contract for those who can."""

    async def test_it_is_answered_in_words_and_nothing_is_made_or_paid_for(self, bench: Bench):
        assert isinstance(bench.provider, Probing)
        assert (await bench.provider.probe()).strip()
        assert not bench.simulator.jobs
        assert not bench.simulator.ledger.paid

    async def test_it_is_answered_as_well_where_there_are_jobs(self, bench: Bench):
        await bench.submitted(bench.order())
        assert isinstance(bench.provider, Probing)
        assert (await bench.provider.probe()).strip()
        assert len(bench.simulator.ledger.paid) == 1

    @pytest.mark.parametrize(
        ("fault", "failure"),
        [(Fault.DENIED, Fatal), (Fault.UNAVAILABLE, Transient), (Fault.RATE_LIMITED, RateLimited)],
    )
    async def test_it_fails_as_every_call_does(self, bench: Bench, fault: Fault, failure: type[Exception]):
        assert isinstance(bench.provider, Probing)
        bench.simulator.arm(fault)
        with pytest.raises(failure, match=bench.case.name):
            await bench.provider.probe()
        assert not bench.simulator.faults.left()
