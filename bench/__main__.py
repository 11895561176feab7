"""`python -m bench`: run the benchmark, show the tables, and with `--write` record them in RESULTS.md."""

import argparse
import time
from collections.abc import Callable, Collection

from rich.console import Console

from bench import report, sections
from bench.contender import DatabaseKind
from bench.databases import Databases, PostgresDatabases, SqliteDatabases
from bench.measure import Progress
from bench.plan import FULL, QUICK, SECTIONS, SYSTEMS, Section, Sizes
from bench.results import Results
from bench.waits import SEED

_DATABASES: dict[DatabaseKind, type[Databases]] = {"postgres": PostgresDatabases, "sqlite": SqliteDatabases}
_PLAIN: dict[Section, Callable[[Databases, Sizes, sections.Announce, Results], None]] = {
    "slots": sections.slots,
    "pairs": sections.pairs,
    "pruning": sections.pruned,
    "fresh": sections.fresh,
    "streams": sections.streams,
    "endpoints": sections.endpoints,
    "recordings": sections.recordings,
    "batches": sections.batches,
    "documents": sections.readings,
    "search": sections.searches,
}
"""Sections that take no part of the command line."""

console = Console()


def main() -> None:
    options = _options()
    sizes = QUICK if options.quick else FULL
    results = Results()
    versions = []
    start = time.monotonic()

    def announce(title: str) -> Progress:
        console.print(f"[dim]{time.monotonic() - start:6.0f} s[/]  [bold]{title}[/]")
        return lambda name, figure: console.print(f"          {name}  {figure:,.4g}", highlight=False)

    if "extraction" in options.only:  # no database has a part in it
        sections.extraction(sizes, announce, results)
    for kind, kind_of_databases in _DATABASES.items():
        by_database = [section for section in options.only if section != "extraction"]
        if by_database and options.database in (None, kind):
            with kind_of_databases() as databases:
                versions.append(databases.version())
                for section in by_database:
                    _run(section, databases, sizes, options.systems, announce, results, seed=options.seed)
    report.show(results, console)
    if options.write:
        report.write(results, [*versions, f"measured with {sizes}"])
        console.print(f"written to {report.RESULTS.relative_to(report.RESULTS.parent.parent)}")


def _run(
    section: Section,
    databases: Databases,
    sizes: Sizes,
    chosen: Collection[str],
    announce: sections.Announce,
    results: Results,
    *,
    seed: int,
) -> None:
    match section:
        case "enqueue" | "drain":
            sections.throughput(section, databases, sizes, chosen, announce, results)
        case "pickup":
            sections.pickups(databases, sizes, chosen, announce, results)
        case "claims":
            sections.claims(databases, sizes, chosen, announce, results)
        case "waits":
            sections.waits(databases, sizes, seed, announce, results)
        case _:
            _PLAIN[section](databases, sizes, announce, results)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes and one round: minutes become seconds")
    parser.add_argument("--write", action="store_true", help="record the results in bench/RESULTS.md")
    parser.add_argument("--database", choices=tuple(_DATABASES), help="only this one")
    parser.add_argument("--only", type=_names(SECTIONS), default=SECTIONS, metavar=",".join(SECTIONS))
    parser.add_argument(
        "--systems",
        type=_names(SYSTEMS),
        default=SYSTEMS,
        metavar=",".join(SYSTEMS),
        help="compare these with the floor, which always runs",
    )
    parser.add_argument(
        "--seed", type=int, default=SEED, help="of the mixed hour that the waits are told in (default: %(default)s)"
    )
    return parser.parse_args()


class _names:  # noqa: N801  (argparse shows the name in its message)
    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = allowed

    def __call__(self, text: str) -> tuple[str, ...]:
        chosen = tuple(text.split(","))
        for name in chosen:
            if name not in self._allowed:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(self._allowed)}")
        return chosen


if __name__ == "__main__":
    main()
