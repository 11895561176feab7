"""The systems by name. Each is imported only when it is measured."""

from bench.claims import Claiming
from bench.contender import Contender, DatabaseKind
from bench.plan import FLOOR, PEERS, TOWPATH, TWO_COMMITS


def floor(database: DatabaseKind, *, fused: bool = True) -> Claiming:
    if database == "postgres":
        from bench.floor.postgres import PostgresFloor

        return PostgresFloor(fused)
    from bench.floor.sqlite import SqliteFloor

    return SqliteFloor(fused)


def towpath(database: DatabaseKind) -> Claiming:
    from bench.subjects.towpath import Towpath

    return Towpath(database)


def system(name: str, database: DatabaseKind) -> Contender:
    match name:
        case "floor" | "floor_two_commits":
            return floor(database, fused=name == FLOOR)
        case "towpath":
            return towpath(database)
        case "pgqueuer":
            from bench.peers.pgqueuer import PgQueuerPeer

            return PgQueuerPeer()
        case "procrastinate":
            from bench.peers.procrastinate import ProcrastinatePeer

            return ProcrastinatePeer()
    raise ValueError(f"no system is called {name!r}; there are {', '.join((FLOOR, TWO_COMMITS, TOWPATH, *PEERS))}")


def runs_on(name: str, database: DatabaseKind) -> bool:
    return database == "postgres" or name not in PEERS
