"""What a run found out, as tables: one function for each kind of measurement."""

from dataclasses import dataclass

from bench.extraction import LIBRARY as DOCUMENT_LIBRARY
from bench.goals import judge
from bench.recordings import LIBRARY
from bench.results import Extraction, Results, ShortJobs, Throughput, Transcription

GOALS = "Goals"


@dataclass(frozen=True)
class Table:
    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


def tables(results: Results) -> list[Table]:
    """Those of what was measured."""
    kinds = (
        _throughput,
        _short_jobs,
        _pairs,
        _pruning,
        _pickup,
        _fresh,
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
        _latencies,
        _recognized,
        _goals,
    )
    found = [kind(results) for kind in kinds]
    return [table for table in found if table.rows]


def _compared(line: Throughput | ShortJobs | Transcription | Extraction, with_what: str) -> str:
    """The median of the rounds and their range, or 1 for what the others are compared with."""
    return "1" if line.system == with_what else f"{line.ratio:.3g} ({line.lowest:.3g}–{line.highest:.3g})"


def _throughput(results: Results) -> Table:
    rows = [
        (line.database, str(line.case), line.system, f"{line.rate:,.0f}", _compared(line, "floor"))
        for line in results.throughput
    ]
    return Table("Throughput", ("database", "measured", "system", "jobs/s", "of the floor"), rows)


def _short_jobs(results: Results) -> Table:
    title = "Jobs of a millisecond in a few slots"
    rows = [
        (line.database, str(line.slots), line.system, f"{line.rate:,.0f}", _compared(line, "pgqueuer"))
        for line in results.short_jobs
    ]
    return Table(title, ("database", "slots", "system", "jobs/s", "of PgQueuer"), rows)


def _pairs(results: Results) -> Table:
    rows = [
        (line.database, f"{line.one:,.0f}", f"{line.two:,.0f}", f"{line.ratio:.2f} ({line.lowest:.2f}–{line.highest:.2f})")
        for line in results.pairs
    ]
    title = "Two worker processes, jobs that compute for 30 µs"
    return Table(title, ("database", "jobs/s of one", "of two", "ratio"), rows)


def _pruning(results: Results) -> Table:
    rows = [(line.database, f"{line.pruned:,.0f}", f"{line.drained:,.0f}", f"{line.ratio:.2f}") for line in results.pruning]
    title = "Pruning in the process of a worker at full speed"
    return Table(title, ("database", "pruned/s", "drained/s", "ratio"), rows)


def _pickup(results: Results) -> Table:
    rows = [(line.database, line.system, f"{line.p50:.1f}", f"{line.p99:.1f}") for line in results.pickup]
    title = "Pick-up latency, enqueue and worker in different processes"
    return Table(title, ("database", "system", "p50 ms", "p99 ms"), rows)


def _fresh(results: Results) -> Table:
    title = "A new database from its first job on, 32 slots, jobs sent one by one"
    header = ("database", "seconds", "jobs/s in the first third", "in the last third", "of the first")
    rows = [
        (line.database, f"{line.seconds:g}", f"{line.first:,.0f}", f"{line.last:,.0f}", f"{line.ratio:.2f}")
        for line in results.fresh
    ]
    return Table(title, header, rows)


def _claims(results: Results) -> Table:
    rows = [
        (line.database, line.system, line.situation, f"{line.median:.2f}", f"{line.p95:.2f}", f"{line.ratio:.2f}")
        for line in results.claims
    ]
    header = ("database", "system", "situation", "median ms", "p95 ms", "of the smallest")
    return Table("Cost of claiming 100 jobs", header, rows)


def _fan_out(results: Results) -> Table:
    title = "Events to open streams, from the enqueue to the client; some fifty jobs a second"
    rows = [
        (line.database, str(line.streams), f"{line.deliveries:,}", f"{line.p50:.1f}", f"{line.p99:.1f}")
        for line in results.fan_out
    ]
    return Table(title, ("database", "streams", "deliveries", "p50 ms", "p99 ms"), rows)


def _endpoints(results: Results) -> Table:
    title = "Endpoints by number of jobs in the table, four connections"
    header = (
        *("database", "endpoint", "jobs", "requests/s", "p50 ms", "p99 ms"),
        *("p50 of the smaller", "p99 of the smaller"),
    )
    rows = [
        (
            *(line.database, f"GET {line.path}", f"{line.jobs:,}", f"{line.rate:,.0f}"),
            *(f"{line.p50:.2f}", f"{line.p99:.2f}", f"{line.ratio:.2f}", f"{line.p99_ratio:.2f}"),
        )
        for line in results.endpoints
    ]
    return Table(title, header, rows)


def _transcriptions(results: Results) -> Table:
    title = "Transcription, from an upload to its transcript; worker processes that hear one window at a time"
    header = ("database", "system", "speech", "seconds of audio/s", "of the speech library", "computing")
    rows = [
        (
            *(line.database, line.system, f"{line.minutes:g} min", f"{line.rate:.1f}"),
            *(_compared(line, LIBRARY), f"{line.computing:.2f}"),
        )
        for line in results.transcriptions
    ]
    return Table(title, header, rows)


def _extractions(results: Results) -> Table:
    title = "Small documents of eight kinds, read one after the other"
    header = ("system", "documents", "documents/s", "MB/s", "of the library")
    rows = [
        (line.system, f"{line.documents:,}", f"{line.rate:,.0f}", f"{line.megabytes:.1f}", _compared(line, DOCUMENT_LIBRARY))
        for line in results.extractions
    ]
    return Table(title, header, rows)


def _pipelines(results: Results) -> Table:
    title = "The same through every step, until they are found: one worker, eight slots, the model on this machine"
    header = ("database", "documents", "documents/s", "MB/s", "of the library that reads them", "first tenth", "last tenth")
    rows = [
        (
            *(line.database, f"{line.documents:,}", f"{line.rate:,.1f}", f"{line.megabytes:.2f}", f"{line.ratio:.2f}"),
            *(f"{line.first:,.1f}/s", f"{line.last:,.1f}/s"),
        )
        for line in results.pipelines
    ]
    return Table(title, header, rows)


def _turns(results: Results) -> Table:
    header = ("database", "backlog", "alone", "behind it", "ratio", "heard of the backlog meanwhile")
    rows = [
        (
            *(line.database, f"{line.backlog_hours:g} h", f"{line.alone:.1f} s", f"{line.behind:.1f} s"),
            *(f"{line.behind / line.alone:.1f}", f"{line.heard / 60:.1f} of {line.backlog_hours * 60:.0f} min"),
        )
        for line in results.turns
    ]
    return Table("One person's minute behind another's backlog, 2 workers", header, rows)


def _waits(results: Results) -> Table:
    title = "What people are told about their wait, over a mixed hour with a pause and a worker that goes and comes"
    header = (
        *("database", "an hour in", "seed", "recordings", "looks"),
        *("truth in the range", "sooner", "later", "range", "reasons"),
    )
    rows = [
        (
            *(line.database, f"{line.seconds:g} s", str(line.seed), str(line.recordings), f"{line.looks:,}"),
            *(f"{line.right:.1%}", f"{line.sooner:.1%}", f"{1 - line.right - line.sooner:.1%}"),
            *(f"1 to {line.width:.1f}", f"{line.reasons:,}"),
        )
        for line in results.waits
    ]
    return Table(title, header, rows)


def _through_local(results: Results) -> Table:
    header = (
        *("database", "requests", "requests/s", "of asking directly"),
        *("processor, directly", "of the worker"),
    )
    rows = [
        (
            *(line.database, f"{line.requests:,}", f"{line.rate:,.0f}"),
            f"{line.ratio:.3g} ({line.lowest:.3g}–{line.highest:.3g})",
            *(f"{line.directly:.2f} ms", f"{line.computing:.2f} ms"),
        )
        for line in results.through_local
    ]
    return Table("A batch through LOCAL, 16 requests at once, 50 ms an answer", header, rows)


def _memory(results: Results) -> Table:
    rows = [
        (line.database, f"{line.requests:,}", f"{line.server / 1e6:.0f} MB", f"{line.worker / 1e6:.0f} MB")
        for line in results.memory
    ]
    title = "The most memory that a batch takes: uploaded, read, ordered, merged, handed out"
    return Table(title, ("database", "requests", "server", "worker"), rows)


def _cycles(results: Results) -> Table:
    rows = [
        (line.database, f"{line.waiting:,}", f"{line.milliseconds:.1f} ms", f"{line.computing:.1f} ms", str(line.statements))
        for line in results.cycles
    ]
    title = "A reconciler's cycle with 100 orders due"
    return Table(title, ("database", "waiting", "median", "of the processor", "statements"), rows)


def _rankings(results: Results) -> Table:
    title = "Search: held-out questions that find their passage among 500"
    rows = [(line.database, line.how, line.kind, f"{line.recall:.3f}", f"{line.mrr:.3f}") for line in results.rankings]
    return Table(title, ("database", "by", "questions", "recall at 5", "MRR"), rows)


def _latencies(results: Results) -> Table:
    rows = [
        (line.database, line.how, f"{line.passages:,}", f"{line.p50:.1f}", f"{line.p99:.1f}") for line in results.latencies
    ]
    return Table("Search: from a question to its hits", ("database", "by", "passages", "p50 ms", "p99 ms"), rows)


def _recognized(results: Results) -> Table:
    rows = [(line.type, str(line.marked), f"{line.precision:.2f}", f"{line.recall:.2f}") for line in results.recognized]
    return Table("Entities found by rules", ("type", "marked", "precision", "recall"), rows)


def _goals(results: Results) -> Table:
    rows = [(goal.database, goal.text, goal.found, "met" if goal.met else "**not met**") for goal in judge(results)]
    return Table(GOALS, ("database", "goal", "found", ""), rows)
