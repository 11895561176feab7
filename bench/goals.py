"""What Towpath set out to reach, and whether this run says it did."""

from collections.abc import Iterator
from dataclasses import dataclass

from bench.extraction import ONE_OWNER
from bench.plan import TOWPATH
from bench.recordings import AS_IT_COMES, ONE, TWO
from bench.results import Results, Throughput


@dataclass(frozen=True)
class Goal:
    database: str
    text: str
    found: str
    met: bool


def judge(results: Results) -> list[Goal]:
    """Goals whose measurements were not part of the run are left out."""
    kinds = (
        _drain,
        _two_processes,
        _short_jobs,
        _pairs,
        _pruning,
        _enqueue,
        _fresh,
        _pickup,
        _claims,
        _fan_out,
        _endpoints,
        _transcriptions,
        _turns,
        _waits,
        _through_local,
        _memory,
        _cycles,
        _extractions,
        _pipelines,
        _rankings,
    )
    return [goal for kind in kinds for goal in kind(results)]


def _drain(results: Results) -> Iterator[Goal]:
    for found in results.throughput:
        case = found.case
        if found.system != TOWPATH or case.activity != "drain":
            continue
        if case.processes == 1:
            text = f"drain at least 0.65 of the floor, batch {case.batch}"
            yield Goal(found.database, text, f"{found.ratio:.2f}", found.ratio >= 0.65)
        for peer in results.throughput:
            if peer.system == "pgqueuer" and peer.case == case and peer.database == found.database:
                times = found.ratio / peer.ratio
                text = f"drain at least twice as fast as PgQueuer, {_processes(found)}"
                yield Goal(found.database, text, f"{times:.1f} times", times >= 2)


def _two_processes(results: Results) -> Iterator[Goal]:
    found = [line for line in results.throughput if line.system == TOWPATH and line.case.activity == "drain"]
    single = {(line.database, line.case.batch): line.ratio for line in found if line.case.processes == 1}
    for line in found:
        one = single.get((line.database, line.case.batch))
        if line.case.processes == 2 and one is not None:
            text = f"two worker processes no slower than one, batch {line.case.batch}"
            yield Goal(line.database, text, f"{line.ratio / one:.2f} times", line.ratio >= one)


def _short_jobs(results: Results) -> Iterator[Goal]:
    for found in results.short_jobs:
        if found.system == TOWPATH:
            text = f"jobs of a millisecond in {found.slots} slots at least 1.3 times as fast as PgQueuer"
            yield Goal(found.database, text, f"{found.ratio:.2f} times", found.ratio >= 1.3)


def _pairs(results: Results) -> Iterator[Goal]:
    for found in results.pairs:
        text = "two worker processes no slower than one, jobs that compute for a moment"
        yield Goal(found.database, text, f"{found.ratio:.2f} times", found.ratio >= 1)


def _pruning(results: Results) -> Iterator[Goal]:
    for found in results.pruning:
        text = "pruning keeps up with a worker at full speed"
        yield Goal(found.database, text, f"{found.ratio:.2f} pruned per job drained", found.ratio >= 1)


def _processes(found: Throughput) -> str:
    return "1 process" if found.case.processes == 1 else f"{found.case.processes} processes"


def _enqueue(results: Results) -> Iterator[Goal]:
    for found in results.throughput:
        if found.system == TOWPATH and found.case.activity == "enqueue" and found.case.batch > 1:
            wanted = 0.5 if found.case.batch == 500 else 0.6
            text = f"bulk at least {wanted} of the floor, {str(found.case).removeprefix('enqueue, ')}"
            yield Goal(found.database, text, f"{found.ratio:.2f}", found.ratio >= wanted)


def _pickup(results: Results) -> Iterator[Goal]:
    for found in results.pickup:
        if found.system == TOWPATH:
            yield Goal(found.database, "pick-up p50 below 5 ms", f"{found.p50:.1f} ms", found.p50 < 5)


def _claims(results: Results) -> Iterator[Goal]:
    for database in ("postgres", "sqlite"):
        ratios = [cost.ratio for cost in results.claims if cost.system == TOWPATH and cost.database == database]
        if ratios:
            text = "claim cost flat within 20 % over backlog, tenants and a pinned snapshot"
            yield Goal(database, text, f"at most {max(ratios):.2f} of the smallest", max(ratios) <= 1.2)


def _fresh(results: Results) -> Iterator[Goal]:
    for found in results.fresh:
        text = "a new database is no slower after minutes than at first, within 20 %"
        yield Goal(found.database, text, f"{found.ratio:.2f} of the first third", found.ratio >= 0.8)


def _fan_out(results: Results) -> Iterator[Goal]:
    for found in results.fan_out:
        if found.streams > 1:
            text = f"an event reaches {found.streams} open streams within 250 ms at p99"
            yield Goal(found.database, text, f"{found.p99:.0f} ms", found.p99 < 250)


def _endpoints(results: Results) -> Iterator[Goal]:
    for database in ("postgres", "sqlite"):
        lines = [line for line in results.endpoints if line.database == database]
        if lines:
            fewest, most = min(line.jobs for line in lines), max(line.jobs for line in lines)
            worst = max(lines, key=lambda line: line.ratio)
            text = f"endpoints no slower with {most:,} jobs than with {fewest:,}, within 20 %"
            yield Goal(database, text, f"at most {worst.ratio:.2f} ({worst.path})", worst.ratio <= 1.2)


def _transcriptions(results: Results) -> Iterator[Goal]:
    for database in ("postgres", "sqlite"):
        ratios = {line.system: line.ratio for line in results.transcriptions if line.database == database}
        if ratios:
            # Called directly it uses all cores on one window; one thread on the same windows is the stricter comparison.
            for name, ratio in (("called directly", ratios[AS_IT_COMES]), ("on the same windows with one thread", 1.0)):
                over = ratio / ratios[ONE] - 1
                text = f"transcription within 10 % of the speech library {name}"
                yield Goal(database, text, f"{over:+.1%}", over < 0.1)
            times = ratios[TWO] / ratios[ONE]
            yield Goal(database, "two workers transcribe at least 1.5 times as fast as one", f"{times:.2f}", times >= 1.5)


def _turns(results: Results) -> Iterator[Goal]:
    """Workers finish what they have begun, some minutes of it at most; what waits behind that does not count."""
    for found in results.turns:
        minutes = found.heard / 60
        text = f"a minute is done before 5 more of the {found.backlog_hours:g} hours that somebody else sent earlier"
        yield Goal(found.database, text, f"{minutes:.1f} min", minutes < 5)
        times = found.behind / found.alone
        text = f"a minute behind {found.backlog_hours:g} hours of somebody else's within 3 times what it takes alone"
        yield Goal(found.database, text, f"{times:.1f} times", times <= 3)


def _waits(results: Results) -> Iterator[Goal]:
    for found in results.waits:
        text = "the wait that people are told holds the truth in 9 of 10 looks over a mixed hour"
        yield Goal(found.database, text, f"{found.right:.1%}", found.right >= 0.9)


def _through_local(results: Results) -> Iterator[Goal]:
    for found in results.through_local:
        over = 1 / found.ratio - 1
        yield Goal(found.database, "LOCAL within 10 % of asking the chat service directly", f"{over:+.1%}", over < 0.1)


def _memory(results: Results) -> Iterator[Goal]:
    for few, many in zip(results.memory[::2], results.memory[1::2], strict=True):
        times = max(many.server / few.server, many.worker / few.worker)
        text = f"{many.requests:,} requests take at most 1.3 times the memory of {few.requests:,}"
        yield Goal(many.database, text, f"{times:.2f} times", times <= 1.3)


def _cycles(results: Results) -> Iterator[Goal]:
    for few, many in zip(results.cycles[::2], results.cycles[1::2], strict=True):
        times = many.milliseconds / few.milliseconds
        text = f"a reconciler's cycle no slower at {many.waiting:,} waiting than at {few.waiting:,}, within 20 %"
        met = times <= 1.2 and many.statements == few.statements
        yield Goal(many.database, text, f"{times:.2f} times, {many.statements} statements", met)


def _extractions(results: Results) -> Iterator[Goal]:
    for found in results.extractions:
        if found.system == ONE_OWNER:
            over = 1 / found.ratio - 1
            yield Goal("none", "small documents within 15 % of the library called directly", f"{over:+.1%}", over < 0.15)


def _pipelines(results: Results) -> Iterator[Goal]:
    for found in results.pipelines:
        flatness = found.last / found.first
        text = f"the last tenth of {found.documents:,} documents as fast as the first, within 15 %"
        yield Goal(found.database, text, f"{flatness:.2f}", flatness >= 0.85)


def _rankings(results: Results) -> Iterator[Goal]:
    for database in ("postgres", "sqlite"):
        found = {line.how: line for line in results.rankings if line.database == database and line.kind == "all"}
        if found:
            best = max(found["words"].recall, found["meaning"].recall)
            text = "words and meaning together find more of the held-out questions than either alone"
            yield Goal(database, text, f"{found['both'].recall:.3f} against {best:.3f}", found["both"].recall > best)
