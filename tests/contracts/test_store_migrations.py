"""Migrations: each once, in order, by whoever starts first; an old release lives on the newer schema."""

import asyncio
import logging
import shutil
import sys
from pathlib import Path

import pytest

from tests.contracts.stores import PATIENCE, Hands, opened
from towpath.config import Settings
from towpath.core import transitions
from towpath.core.errors import ConfigurationError
from towpath.core.ids import uuid7
from towpath.core.lifecycle import State
from towpath.core.records import JOB_COLUMNS, Step
from towpath.store import journal
from towpath.store.migrating import ENGINE, Slice, migrate, migrations_of, pending
from towpath.wiring import make_store


@pytest.fixture
async def store(database_url):
    """An empty database."""
    own = make_store(database_url, Settings())
    await own.open()
    yield own
    await own.close()


def shop(folder: Path, **files: str) -> Slice:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name.replace('__', '.')}.sql").write_text(text)
    return Slice("shop", folder)


async def names_in(store, table: str) -> list[str]:
    rows = await store.read(lambda tx: tx.fetch_sql(f"SELECT name FROM {table} ORDER BY id"))
    return [row["name"] for row in rows]


async def test_a_fresh_database_gets_everything_and_a_migrated_one_nothing(store, caplog):
    caplog.set_level(logging.INFO, "towpath.migrate")
    wanted = migrations_of(ENGINE, store.dialect)
    assert await pending(store, [ENGINE]) == wanted
    assert await migrate(store, [ENGINE]) == wanted
    assert "applied migration engine 0001 engine" in caplog.text
    assert await pending(store, [ENGINE]) == []
    assert await migrate(store, [ENGINE]) == []
    assert await Hands(store).enqueue() is not None


MIGRATE = """
import asyncio, sys
from towpath.config import Settings
from towpath.store.migrating import ENGINE, migrate
from towpath.wiring import make_store

async def main(url):
    store = make_store(url, Settings())
    await store.open()
    print("ready", flush=True)
    sys.stdin.readline()
    print(len(await migrate(store, [ENGINE])), flush=True)
    await store.close()

asyncio.run(main(sys.argv[1]))
"""


async def test_processes_that_start_at_the_same_moment_migrate_once(store, database_url):
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", MIGRATE, database_url, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        for _ in range(3)
    ]
    async with asyncio.timeout(60):
        for process in processes:
            assert await process.stdout.readline() == b"ready\n"
        answers = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    assert sorted(int(out) for out, _ in answers) == [0, 0, len(migrations_of(ENGINE, store.dialect))]
    assert await Hands(store).enqueue() is not None


async def test_a_slice_brings_its_tables_and_queries_in_order(store, tmp_path):
    part = shop(
        tmp_path / "migrations",
        **{
            "0001_item": "CREATE TABLE item (id integer PRIMARY KEY, name text);",
            "0002_first__sqlite": "INSERT INTO item VALUES (1, 'sqlite')",
            "0002_first__postgres": "INSERT INTO item VALUES (1, 'postgres')",
            "0010_second": "INSERT INTO item VALUES (2, 'both')",
        },
    )
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "items.sql").write_text(
        "-- name: item_names\nSELECT name FROM item WHERE id >= :first ORDER BY id\n"
    )
    part = Slice("shop", part.migrations, tmp_path / "queries")
    applied = await migrate(store, [ENGINE, part])
    assert [(m.slice, m.number) for m in applied if m.slice == "shop"] == [("shop", 1), ("shop", 2), ("shop", 10)]
    store.queries.load(part.queries)
    rows = await store.read(lambda tx: tx.fetch("item_names", first=0))
    assert [row["name"] for row in rows] == [store.dialect, "both"]


async def test_a_slice_that_grows_gets_only_what_is_new(store, tmp_path):
    part = shop(tmp_path / "m", **{"0001_item": "CREATE TABLE item (id integer PRIMARY KEY, name text)"})
    await migrate(store, [ENGINE, part])
    part = shop(tmp_path / "m", **{"0002_rows": "INSERT INTO item VALUES (1, 'new')"})
    assert [m.number for m in await pending(store, [ENGINE, part])] == [2]
    assert [m.number for m in await migrate(store, [ENGINE, part])] == [2]
    assert await names_in(store, "item") == ["new"]


async def test_a_migration_that_fails_leaves_nothing_and_can_be_mended(store, tmp_path):
    wrong = "CREATE TABLE item (id integer PRIMARY KEY, name text); INSERT INTO nowhere VALUES (1)"
    part = shop(tmp_path / "m", **{"0001_item": wrong})
    with pytest.raises(Exception, match="nowhere"):
        await migrate(store, [ENGINE, part])
    assert len(await pending(store, [ENGINE, part])) == len(migrations_of(ENGINE, store.dialect)) + 1
    part = shop(tmp_path / "m", **{"0001_item": "CREATE TABLE item (id integer PRIMARY KEY, name text)"})
    assert [m.slice for m in await migrate(store, [ENGINE, part])][-1] == "shop"


def test_two_migrations_with_one_number_are_refused(tmp_path):
    part = shop(tmp_path / "m", **{"0001_a": "SELECT 1", "0001_b": "SELECT 1"})
    with pytest.raises(ValueError, match="two migrations numbered 0001"):
        migrations_of(part, "sqlite")


def test_files_that_are_no_migrations_are_left_alone(tmp_path):
    part = shop(tmp_path / "m", **{"0001_a": "SELECT 1", "notes": "", "1_short": ""})
    (tmp_path / "m" / "__init__.py").write_text("")
    assert [m.name for m in migrations_of(part, "sqlite")] == ["a"]


TRICKY = """
-- A comment; with a semicolon in it.
CREATE TABLE item (id integer PRIMARY KEY, name text); -- trailing; comment
INSERT INTO item VALUES (1, 'semi;colon'), (2, 'it''s -- no comment');
"""
TRIGGERS = {
    "sqlite": """
        CREATE TRIGGER copy AFTER INSERT ON item WHEN new.id < 100 BEGIN
            INSERT INTO item VALUES (new.id + 100, 'first;');
            INSERT INTO item VALUES (new.id + 200, 'second');
        END;""",
    "postgres": """
        CREATE FUNCTION copy() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
            INSERT INTO item VALUES (new.id + 100, 'first;');
            INSERT INTO item VALUES (new.id + 200, $$second$$);
            RETURN NULL;
        END $body$;
        CREATE TRIGGER copy AFTER INSERT ON item FOR EACH ROW WHEN (new.id < 100) EXECUTE FUNCTION copy();""",
}


async def test_a_migration_is_whatever_the_database_can_run_semicolons_and_all(store, tmp_path):
    part = shop(
        tmp_path / "m",
        **{
            "0001_item": TRICKY,
            f"0002_trigger__{store.dialect}": TRIGGERS[store.dialect],
            "0003_row": "INSERT INTO item VALUES (3, 'x')",
        },
    )
    await migrate(store, [ENGINE, part])
    assert await names_in(store, "item") == ["semi;colon", "it's -- no comment", "x", "first;", "second"]


async def schema_of(store) -> list[tuple]:
    """Everything the database knows about our tables, in its own words."""
    sqlite = "SELECT type, name, sql FROM sqlite_schema WHERE name LIKE 'towpath_%' ORDER BY name"
    postgres = """
        SELECT 'column' AS type, table_name || '.' || column_name AS name,
               data_type || coalesce(column_default, '') || is_nullable AS sql
        FROM information_schema.columns WHERE table_schema = 'towpath'
        UNION ALL SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'towpath'
        UNION ALL SELECT 'check', conname || conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint
                  WHERE connamespace = 'towpath'::regnamespace
        UNION ALL SELECT 'function', proname, prosrc FROM pg_proc WHERE pronamespace = 'towpath'::regnamespace
        ORDER BY 1, 2, 3"""
    rows = await store.read(lambda tx: tx.fetch_sql(sqlite if store.dialect == "sqlite" else postgres))
    return [tuple(row.values()) for row in rows]


async def test_a_database_migrated_release_by_release_has_the_schema_of_a_fresh_one(store, tmp_path, request):
    folder = tmp_path / "so far"
    folder.mkdir()
    wanted = migrations_of(ENGINE, store.dialect)
    for migration in wanted:
        for file in ENGINE.migrations.iterdir():
            if file.name.startswith("functions." if migration.revision else f"{migration.number:04}_"):
                shutil.copy(str(file), folder)
        assert [m.mark for m in await migrate(store, [Slice("engine", folder)])] == [migration.mark]
    fresh_url = f"sqlite:///{tmp_path}/fresh.db"
    if store.dialect == "postgres":
        fresh_url = request.getfixturevalue("postgres_server").create_database("fresh")
    async with opened(fresh_url) as fresh:
        assert await schema_of(store) == await schema_of(fresh.store)
    if store.dialect == "postgres":
        request.getfixturevalue("postgres_server").drop_database("fresh")


FUNCTION = {
    "postgres": "CREATE OR REPLACE FUNCTION answer() RETURNS integer LANGUAGE sql AS $$ SELECT {} $$;",
    "sqlite": "DROP VIEW IF EXISTS answer; CREATE VIEW answer AS SELECT {} AS answer;",
}
ASK = {"postgres": "SELECT answer() AS answer", "sqlite": "SELECT answer FROM answer"}


async def answer(store) -> int:
    [row] = await store.read(lambda tx: tx.fetch_sql(ASK[store.dialect]))
    return row["answer"]


def answering(folder: Path, dialect: str, number: int, revision: int = 1, *, migration: int = 1) -> Slice:
    """A slice whose functions answer that number."""
    text = f"-- revision: {revision}\n{FUNCTION[dialect].format(number)}"
    tables = {f"{one:04}_item": f"CREATE TABLE item_{one} (id integer)" for one in range(1, migration + 1)}
    return shop(folder, **tables, **{f"functions__{dialect}": text})


class TestFunctions:
    async def test_they_are_applied_after_the_migrations_and_again_when_they_have_changed(self, store, tmp_path):
        for number, expected in ((1, ["shop 0001 item", "shop functions"]), (2, ["shop functions"]), (2, [])):
            part = answering(tmp_path / "m", store.dialect, number, revision=number)
            assert [str(one) for one in await pending(store, [part])] == expected
            assert [str(one) for one in await migrate(store, [part])] == expected
            assert await answer(store) == number

    async def test_an_older_process_that_starts_late_does_not_put_its_own_back(self, store, tmp_path):
        older = answering(tmp_path / "older", store.dialect, 1)
        newer = answering(tmp_path / "newer", store.dialect, 2, revision=2)
        await migrate(store, [older])
        await migrate(store, [newer])
        assert await pending(store, [older]) == []
        assert await migrate(store, [older]) == []
        assert await answer(store) == 2

    async def test_an_older_process_does_not_bring_its_own_to_a_database_that_the_newer_one_made(self, store, tmp_path):
        newer = answering(tmp_path / "newer", store.dialect, 2, revision=2)
        await migrate(store, [newer])
        older = answering(tmp_path / "older", store.dialect, 1)
        assert await pending(store, [older]) == []
        assert await migrate(store, [older]) == []
        assert await migrate(store, [newer]) == []
        assert await answer(store) == 2

    async def test_a_newer_migration_makes_them_newer_too(self, store, tmp_path):
        """What they are made of may have changed with it, such as the list of columns, though their file has not."""
        await migrate(store, [answering(tmp_path / "newer", store.dialect, 2, migration=2)])
        assert await migrate(store, [answering(tmp_path / "older", store.dialect, 1, revision=9)]) == []
        assert await answer(store) == 2

    async def test_a_release_can_go_back_to_an_earlier_text(self, store, tmp_path):
        for revision, number in enumerate((1, 2, 1), 1):
            part = answering(tmp_path / "m", store.dialect, number, revision)
            assert [str(one) for one in await migrate(store, [part])][-1:] == ["shop functions"]
            assert await answer(store) == number

    async def test_two_texts_of_one_revision_are_refused(self, store, tmp_path):
        await migrate(store, [answering(tmp_path / "one", store.dialect, 1)])
        for look in (pending, migrate):
            with pytest.raises(ConfigurationError, match="raise `-- revision: 1`"):
                await look(store, [answering(tmp_path / "other", store.dialect, 2)])
        assert await answer(store) == 1

    async def test_a_comment_before_a_statement_is_no_other_text(self, store, tmp_path):
        part = answering(tmp_path / "m", store.dialect, 1)
        await migrate(store, [part])
        file = tmp_path / "m" / f"functions.{store.dialect}.sql"
        file.write_text(f"-- What everything comes to.\n{file.read_text()}")
        assert await pending(store, [part]) == []

    def test_two_files_of_them_for_one_database_are_refused(self, tmp_path):
        part = shop(tmp_path / "m", functions="SELECT 1", functions__sqlite="SELECT 1")
        with pytest.raises(ValueError, match="two files of functions for sqlite"):
            migrations_of(part, "sqlite")

    async def test_those_of_the_other_database_are_left_alone(self, store, tmp_path):
        other = "sqlite" if store.dialect == "postgres" else "postgres"
        part = shop(
            tmp_path / "m", **{"0001_item": "CREATE TABLE item (id integer)", f"functions__{other}": "no SQL at all"}
        )
        assert [str(one) for one in await migrate(store, [part])] == ["shop 0001 item"]

    async def test_the_engine_has_one_of_each_name(self, postgres_url):
        async with opened(postgres_url) as hands:
            twice = await hands.store.read(
                lambda tx: tx.fetch_sql(
                    "SELECT proname FROM pg_proc WHERE pronamespace = 'towpath'::regnamespace "
                    "GROUP BY proname HAVING count(*) > 1"
                )
            )
        assert twice == []


async def test_a_database_from_before_the_first_release_is_refused(store):
    table = "towpath_migration" if store.dialect == "sqlite" else "towpath.migration"

    async def unit(tx) -> None:
        if store.dialect == "postgres":
            await tx.execute_sql("CREATE SCHEMA towpath")
        await tx.execute_sql(f"CREATE TABLE {table} (slice text, number integer, name text, applied_at real)")
        await tx.execute_sql(f"INSERT INTO {table} VALUES ('engine', 1, 'engine', 0)")

    await store.run(unit)
    for look in (pending, migrate):
        with pytest.raises(ConfigurationError, match="from before its first release"):
            await look(store, [ENGINE])


ANEW = """
PRAGMA legacy_alter_table = ON;
CREATE TABLE towpath_budget_anew (name text PRIMARY KEY, blocked_until REAL NOT NULL, reason text, more text);
INSERT INTO towpath_budget_anew SELECT name, blocked_until, reason, NULL FROM towpath_budget;
DROP TABLE towpath_budget;
ALTER TABLE towpath_budget_anew RENAME TO towpath_budget;
PRAGMA legacy_alter_table = OFF;
"""


async def test_what_others_have_put_on_a_table_survives_a_migration_that_makes_it_anew(sqlite_url, tmp_path):
    """SQLite makes a table anew to change it, and drops what hangs on it."""
    folder = tmp_path / "migrations"
    shutil.copytree(str(ENGINE.migrations), folder)
    (folder / "9999_anew.sqlite.sql").write_text(ANEW)
    async with opened(sqlite_url) as hands:

        async def put(tx) -> None:
            await tx.execute_sql("CREATE TABLE seen (name text)")
            await tx.execute_sql("CREATE INDEX my_budgets ON towpath_budget (blocked_until)")
            await tx.execute_sql(
                "CREATE TRIGGER my_trigger AFTER INSERT ON towpath_budget "
                "BEGIN INSERT INTO seen VALUES (NEW.name); SELECT 1; END"
            )

        await hands.store.run(put)
        assert [str(one) for one in await migrate(hands.store, [Slice("engine", folder)])] == ["engine 9999 anew"]
        await hands.sql("INSERT INTO towpath_budget VALUES ('api', 0, NULL, 'more')")
        seen = await hands.store.read(lambda tx: tx.fetch_sql("SELECT name FROM seen"))
        assert [row["name"] for row in seen] == ["api"]
        found = await hands.store.read(
            lambda tx: tx.fetch_sql("SELECT name FROM sqlite_schema WHERE name LIKE 'my_%' ORDER BY name")
        )
        assert [row["name"] for row in found] == ["my_budgets", "my_trigger"]


async def columns_of(store) -> dict[str, set[str]]:
    sqlite = (
        "SELECT substr(m.name, 9) AS t, c.name AS c FROM sqlite_schema AS m, pragma_table_info(m.name) AS c "
        "WHERE m.name LIKE 'towpath_%' AND m.type IN ('table', 'view')"
    )
    postgres = "SELECT table_name AS t, column_name AS c FROM information_schema.columns WHERE table_schema = 'towpath'"
    rows = await store.read(lambda tx: tx.fetch_sql(sqlite if store.dialect == "sqlite" else postgres))
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row["t"], set()).add(row["c"])
    return found


async def test_both_databases_have_the_same_tables_and_columns(sqlite_url, postgres_url):
    async with opened(sqlite_url) as one, opened(postgres_url) as other:
        sqlite, postgres = await columns_of(one.store), await columns_of(other.store)
    # On PostgreSQL a transaction that began earlier may commit later: which it was is known of every event.
    assert postgres.pop("event") - sqlite.pop("event") == {"xid"}
    assert postgres["job"] - sqlite["job"] == {"created_xid", "started_xid"}
    assert {name: sqlite[name] for name in sqlite if name != "job"} == {
        name: postgres[name] for name in postgres if name != "job"
    }
    # When a scheduled job was to begin matters to the statistics only, so the row as Python sees it goes without.
    assert sqlite["job"] == {*JOB_COLUMNS, "due_at"}


async def live_a_little(hands: Hands) -> None:
    """A bit of everything that reads and writes whole rows."""
    await hands.lane("alice", weight=2.0, max_slots=3)
    await hands.queue(max_slots=50)
    job = await hands.start(tenant="alice")
    await hands.store.run(
        lambda tx: journal.record(tx, [journal.Note(job.id, 1, name="step.completed", step=Step(job.id, uuid7(), "step"))])
    )
    assert len(await hands.store.read(lambda tx: journal.load_steps(tx, job.id))) == 1
    assert await hands.settle(transitions.succeed(job.id, job.attempt, "1")) == [None]
    assert (await hands.job(job.id)).state is State.SUCCEEDED


async def test_a_release_keeps_working_when_a_newer_one_has_added_columns_under_its_feet(hands):
    async with asyncio.timeout(PATIENCE):
        for _ in range(6):  # so that the statements are prepared, and remembered, on the connection
            await live_a_little(hands)
        for table in await columns_of(hands.store):
            if table not in ("migration", "job_event") and not table.startswith("v_"):
                await hands.store.run(
                    lambda tx, table=table: tx.execute_sql(
                        f"ALTER TABLE {hands.table(table)} ADD COLUMN later text DEFAULT 'x'"
                    )
                )
        await live_a_little(hands)
    await hands.assert_truthful()
