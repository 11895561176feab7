"""Each section of the benchmark, from the plan to its results."""

from collections.abc import Callable, Collection
from functools import partial
from statistics import median

from bench.claims import claim_costs
from bench.databases import Databases
from bench.documents import through
from bench.endpoints import endpoint_costs
from bench.extraction import extractions
from bench.fan_out import fan_out
from bench.fresh import from_the_first_job_on
from bench.local import SLOTS as LOCAL_SLOTS
from bench.local import through_local
from bench.measure import Progress, compare, percentile
from bench.million import peaks
from bench.pairs import COMPUTE_SECONDS, ONE, TWO, pair
from bench.pickup import pickup
from bench.plan import CASES, FLOOR, PEERS, STREAMS, TOWPATH, Case, Sizes
from bench.pruning import pruning
from bench.reconciling import DUE, cycles
from bench.recordings import transcriptions, turn
from bench.results import (
    ClaimCost,
    Cycle,
    EndpointCost,
    Extraction,
    FanOut,
    Fresh,
    Memory,
    Pair,
    Pickup,
    Pipeline,
    Pruning,
    Recognized,
    Results,
    SearchLatency,
    SearchRanking,
    ShortJobs,
    ThroughLocal,
    Throughput,
    Transcription,
)
from bench.search import latencies, rankings
from bench.slots import JOB_SECONDS, PEER, SLOTS, short_jobs
from bench.systems import floor, runs_on, system, towpath
from bench.throughput import drain, enqueue
from bench.waits import told
from tests.search.measuring import entity_figures

Announce = Callable[[str], Progress]


def throughput(
    activity: str, databases: Databases, sizes: Sizes, chosen: Collection[str], announce: Announce, results: Results
) -> None:
    for case in CASES:
        if case.activity != activity:
            continue
        progress = announce(f"{databases.kind}: {case}")
        # A floor among the subjects is another number of processes than the reference, and named for it.
        subjects = {
            f"{FLOOR} x{case.processes}" if name == FLOOR else name: _measurement(case, name, databases, sizes)
            for name in case.subjects
            if name in chosen and runs_on(name, databases.kind)
        }
        reference = _measurement(Case(case.activity, case.batch), FLOOR, databases, sizes)
        compared = compare(FLOOR, reference, subjects, rounds=sizes.rounds, progress=progress)
        results.throughput += [
            Throughput(databases.kind, case, name, found.rate, found.ratio, min(found.ratios), max(found.ratios))
            for name, found in compared.items()
        ]


def _measurement(case: Case, name: str, databases: Databases, sizes: Sizes) -> Callable[[], float]:
    contender = system(name, databases.kind)
    if case.activity == "enqueue":
        return partial(
            enqueue, contender, databases, batch=case.batch, seconds=sizes.seconds, tenants=case.tenants
        )  # fmt: skip
    return partial(drain, contender, databases, batch=case.batch, processes=case.processes, seconds=sizes.seconds)


def slots(databases: Databases, sizes: Sizes, announce: Announce, results: Results) -> None:
    if not runs_on(PEER, databases.kind):
        return
    progress = announce(f"{databases.kind}: jobs of {JOB_SECONDS * 1000:g} ms in {SLOTS} slots")
    compared = short_jobs(databases, rounds=sizes.rounds, seconds=sizes.seconds, progress=progress)
    results.short_jobs += [
        ShortJobs(databases.kind, SLOTS, name, found.rate, found.ratio, min(found.ratios), max(found.ratios))
        for name, found in compared.items()
    ]


def pairs(databases: Databases, sizes: Sizes, announce: Announce, results: Results) -> None:
    progress = announce(f"{databases.kind}: two processes, jobs that compute for {COMPUTE_SECONDS * 1e6:g} µs")
    compared = pair(databases, rounds=sizes.rounds, seconds=sizes.seconds, progress=progress)
    one, two = compared[ONE], compared[TWO]
    results.pairs.append(Pair(databases.kind, one.rate, two.rate, two.ratio, min(two.ratios), max(two.ratios)))


def pruned(databases: Databases, sizes: Sizes, announce: Announce, results: Results) -> None:
    progress = announce(f"{databases.kind}: pruning beside a worker at full speed")
    found = [pruning(databases, jobs=round(10_000 * sizes.seconds)) for _ in range(sizes.rounds)]
    middle = sorted(found, key=lambda beside: beside.ratio)[len(found) // 2]
    progress("pruned jobs/s", middle.pruned)
    progress("drained jobs/s", middle.drained)
    results.pruning.append(Pruning(databases.kind, middle.pruned, middle.drained, middle.ratio))


def fresh(databases: Databases, sizes: Sizes, announce: Announce, results: Results) -> None:
    progress = announce(f"{databases.kind}: a new database from its first job on, {sizes.fresh:g} s")
    found = from_the_first_job_on(towpath(databases.kind), databases, seconds=sizes.fresh)
    progress("jobs/s in the first third", found.first)
    progress("jobs/s in the last third", found.last)
    results.fresh.append(Fresh(databases.kind, sizes.fresh, found.first, found.last, found.ratio))


def pickups(databases: Databases, sizes: Sizes, chosen: Collection[str], announce: Announce, results: Results) -> None:
    progress = announce(f"{databases.kind}: pick-up latency")
    for name in (TOWPATH, *PEERS):
        if name not in chosen or not runs_on(name, databases.kind):
            continue
        latencies = pickup(system(name, databases.kind), databases, samples=sizes.samples)
        p50, p99 = median(latencies), percentile(latencies, 0.99)
        progress(f"{name} p50 in ms", p50)
        results.pickup.append(Pickup(databases.kind, name, p50, p99))


def claims(databases: Databases, sizes: Sizes, chosen: Collection[str], announce: Announce, results: Results) -> None:
    for contender in (floor(databases.kind), *([towpath(databases.kind)] if TOWPATH in chosen else [])):
        progress = announce(f"{databases.kind}: cost of a claim, {contender.name}")
        timings = claim_costs(
            contender, databases, small=sizes.small, large=sizes.large, rounds=sizes.claims, progress=progress
        )
        for situation, (taken, base) in timings.items():
            middle = median(taken)
            progress(f"{situation}, ms", middle)
            cost = ClaimCost(
                databases.kind, contender.name, str(situation), middle, percentile(taken, 0.95), middle / median(base)
            )
            results.claims.append(cost)


def streams(databases: Databases, sizes: Sizes, announce: Announce, results: Results) -> None:
    progress = announce(f"{databases.kind}: events to open streams")
    for number in STREAMS:
        delays = fan_out(databases, streams=number, jobs=sizes.samples)
        found = FanOut(databases.kind, number, len(delays), median(delays), percentile(delays, 0.99))
        progress(f"{number} streams, p99 in ms", found.p99)
        results.fan_out.append(found)


def endpoints(databases: Databases, sizes: Sizes, announce: Announce, results: Results) -> None:
    progress = announce(f"{databases.kind}: endpoints with {sizes.table:,} and {sizes.large:,} jobs")
    timings = endpoint_costs(
        databases, small=sizes.table, large=sizes.large, requests=sizes.requests, progress=progress
    )  # fmt: skip
    for path, answers in timings.items():
        few = answers[sizes.table].milliseconds
        for jobs, found in answers.items():
            p50, p99 = median(found.milliseconds), percentile(found.milliseconds, 0.99)
            ratios = (p50 / median(few), p99 / percentile(few, 0.99))
            progress(f"{path} with {jobs:,} jobs, median in ms", p50)
            results.endpoints.append(EndpointCost(databases.kind, path, jobs, median(found.rates), p50, p99, *ratios))


def recordings(databases: Databases, sizes: Sizes, announce: Announce, results: Results) -> None:
    progress = announce(f"{databases.kind}: {sizes.speech:g} minutes of speech, seconds of audio per second")
    measured = transcriptions(databases, minutes=sizes.speech, rounds=sizes.rounds, progress=progress)
    for name, rates in measured.compared.items():
        ratios = (rates.ratio, min(rates.ratios), max(rates.ratios), measured.computing[name])
        results.transcriptions.append(Transcription(databases.kind, name, sizes.speech, rates.rate, *ratios))
    progress = announce(f"{databases.kind}: one person's minute behind {sizes.backlog:g} hours of another's")
    found = turn(databases, hours=sizes.backlog)
    progress("seconds alone", found.alone)
    progress("seconds behind the backlog", found.behind)
    results.turns.append(found)


def extraction(sizes: Sizes, announce: Announce, results: Results) -> None:
    progress = announce(f"{sizes.documents:,} small documents, documents per second")
    compared, megabytes = extractions(documents=sizes.documents, rounds=sizes.rounds, progress=progress)
    for name, found in compared.items():
        size = found.rate * megabytes / sizes.documents
        ratios = (found.ratio, min(found.ratios), max(found.ratios))
        results.extractions.append(Extraction(name, sizes.documents, found.rate, size, *ratios))


def readings(databases: Databases, sizes: Sizes, announce: Announce, results: Results) -> None:
    progress = announce(f"{databases.kind}: {sizes.documents:,} small documents through the pipeline")
    found = through(databases, count=sizes.documents, progress=progress)
    megabytes = found.rate * found.megabytes / sizes.documents
    first, last = found.parts[0], found.parts[-1]
    results.pipelines.append(
        Pipeline(databases.kind, sizes.documents, found.rate, megabytes, found.rate / found.library, first, last)
    )


def waits(databases: Databases, sizes: Sizes, seed: int, announce: Announce, results: Results) -> None:
    progress = announce(f"{databases.kind}: what people are told about their wait, an hour in {sizes.hour:g} s, seed {seed}")
    found = told(databases, seconds=sizes.hour, seed=seed)
    progress("looks with the truth in the range", found.right)
    progress("upper end of the range, of the lower", found.width)
    results.waits.append(found)


def batches(databases: Databases, sizes: Sizes, announce: Announce, results: Results) -> None:
    progress = announce(f"{databases.kind}: {sizes.local:,} requests through LOCAL, {LOCAL_SLOTS} slots, 50 ms an answer")
    found, directly, computing = through_local(databases, requests=sizes.local, rounds=sizes.rounds, progress=progress)
    ratios = (found.ratio, min(found.ratios), max(found.ratios), directly, computing)
    results.through_local.append(ThroughLocal(databases.kind, sizes.local, found.rate, *ratios))
    counts = (sizes.many // 10, sizes.many)
    progress = announce(f"{databases.kind}: memory for {counts[0]:,} and {counts[1]:,} requests")
    held = zip(counts, peaks(databases, counts=counts, progress=progress), strict=True)
    results.memory += [Memory(databases.kind, count, peak.server, peak.worker) for count, peak in held]
    progress = announce(f"{databases.kind}: a reconciler's cycle, {DUE} due")
    turns = cycles(databases, waiting=(DUE, 100 * DUE), rounds=sizes.cycles, progress=progress)
    for waiting, taken in turns.items():
        took = (median(taken.milliseconds), median(taken.computing), taken.statements)
        results.cycles.append(Cycle(databases.kind, waiting, *took))


def searches(databases: Databases, sizes: Sizes, announce: Announce, results: Results) -> None:
    progress = announce(f"{databases.kind}: what search finds of the held-out questions")
    for how, by_kind in rankings(databases).items():
        for kind, found in by_kind.items():
            results.rankings.append(SearchRanking(databases.kind, how, kind, found.recall, found.mrr))
        progress(f"{how}, recall at 5", by_kind["all"].recall)
    progress = announce(f"{databases.kind}: a question to {sizes.passages:,} passages")
    for how, milliseconds in latencies(databases, passages=sizes.passages, questions=sizes.samples).items():
        p50, p99 = median(milliseconds), percentile(milliseconds, 0.99)
        progress(f"{how}, p50 in ms", p50)
        results.latencies.append(SearchLatency(databases.kind, how, sizes.passages, p50, p99))
    if not results.recognized:
        results.recognized += [
            Recognized(type, found.marked, found.precision, found.recall) for type, found in entity_figures().items()
        ]
