"""Named queries: one text for both databases, and every query of the engine is one that its database understands."""

import re
from pathlib import Path

import apsw
import asyncpg
import pytest

import towpath
from tests.contracts.stores import opened
from towpath.config import sqlite_path
from towpath.core.errors import ConfigurationError
from towpath.core.records import JOB_COLUMNS
from towpath.store.sql import Queries, compile_query, engine_queries, together


def text_of(source: str, dialect: str) -> str:
    return " ".join(compile_query("q", source, dialect).text.split())


def test_parameters_are_numbered_on_postgres_and_named_on_sqlite():
    postgres = compile_query("q", "SELECT :a, :b, :a", "postgres")
    assert (postgres.text, postgres.names) == ("SELECT $1, $2, $1", ("a", "b"))
    sqlite = compile_query("q", "SELECT :a, :b, :a", "sqlite")
    assert (sqlite.text, sqlite.names) == ("SELECT :a, :b, :a", ("a", "b"))


def test_a_list_becomes_an_array_on_postgres_and_json_on_sqlite():
    assert text_of("SELECT 1 WHERE x IN :ids", "postgres") == "SELECT 1 WHERE x = ANY($1)"
    assert text_of("SELECT 1 WHERE x IN :ids", "sqlite") == "SELECT 1 WHERE x IN (SELECT value FROM json_each(:ids))"


def test_a_list_can_be_excluded_too():
    assert text_of("SELECT 1 WHERE x NOT IN :ids", "postgres") == "SELECT 1 WHERE x <> ALL($1)"
    assert text_of("SELECT 1 WHERE x NOT IN :ids", "sqlite") == "SELECT 1 WHERE x NOT IN (SELECT value FROM json_each(:ids))"


def test_keywords_may_be_written_small():
    assert text_of("select 1 where x in :ids for update", "postgres") == "select 1 where x = ANY($1) for update"
    assert (
        text_of("select 1 where x in :ids for update", "sqlite") == "select 1 where x IN (SELECT value FROM json_each(:ids))"
    )


def test_a_cast_is_no_parameter():
    assert compile_query("q", "SELECT :a::text, '12:30', x::float8[]", "postgres").names == ("a",)


def test_several_are_sent_as_one_with_their_parameters_numbered_anew():
    first = compile_query("first", "DELETE FROM a WHERE x IN :ids", "postgres")
    second = compile_query("second", "INSERT INTO b VALUES (:now, :ids)", "postgres")
    both = together([first, second])
    assert both.text == "WITH first_done AS (DELETE FROM a WHERE x = ANY($1)) INSERT INTO b VALUES ($2, $1)"
    assert both.names == ("ids", "now")


def test_row_locks_are_dropped_where_a_write_transaction_is_alone_anyway():
    for lock in ("FOR UPDATE", "FOR UPDATE SKIP LOCKED", "FOR NO KEY UPDATE", "FOR UPDATE OF job SKIP LOCKED"):
        assert text_of(f"SELECT 1 {lock}", "sqlite") == "SELECT 1"
        assert text_of(f"SELECT 1 {lock}", "postgres") == f"SELECT 1 {lock}"


def test_who_waits_for_the_locks_of_several_jobs_takes_them_in_the_order_of_their_ids():
    """In any language: where `aa` comes after `z`, as in Danish, texts have another order than ids have."""
    orders = {}
    for query in engine_queries("postgres")._queries.values():
        text = " ".join(query.text.split())
        for lock in re.finditer(r"(?:FROM|JOIN) towpath\.job\b((?:(?!FROM towpath).)*?) FOR UPDATE(?! SKIP)", text):
            orders[query.name] = lock[1].rpartition(" ORDER BY ")[2]
    assert orders == {
        "lock_jobs": "id", "unpark_lane": "id", "renew": "held.id", "lock_group": 'CAST(id AS text) COLLATE "C"',
    }  # fmt: skip


def test_a_collation_is_named_on_postgres_and_sqlite_has_that_one_anyway():
    asked = 'SELECT 1 ORDER BY CAST(id AS text) COLLATE "C"'
    assert text_of(asked, "postgres") == asked
    assert text_of(asked, "sqlite") == "SELECT 1 ORDER BY CAST(id AS text)"


def test_engine_tables_are_a_schema_on_postgres_and_a_prefix_on_sqlite():
    assert text_of("DELETE FROM towpath.event", "postgres") == "DELETE FROM towpath.event"
    assert text_of("DELETE FROM towpath.event", "sqlite") == "DELETE FROM towpath_event"


def test_a_whole_job_is_asked_for_by_its_columns_so_that_later_ones_do_not_matter():
    assert f"SELECT {', '.join(JOB_COLUMNS)} FROM towpath.job" in text_of(
        "SELECT * FROM towpath.job WHERE id = :id", "postgres"
    )


def test_a_whole_row_of_another_table_is_left_as_it_is():
    for table in ("towpath.job_event", "towpath.job_usage", "towpath.jobs", "shop_order"):
        assert text_of(f"SELECT * FROM {table}", "postgres") == f"SELECT * FROM {table}"


def test_braces_in_a_slice_are_its_own_and_in_the_engine_they_are_fragments():
    source = "SELECT '{claimed}', '{new_columns}' WHERE :tags = '{place}'"
    assert text_of(source, "postgres") == "SELECT '{claimed}', '{new_columns}' WHERE $1 = '{place}'"
    assert "{" not in compile_query("q", "SELECT {job_columns} FROM towpath.job", "postgres", own=True).text


@pytest.mark.parametrize("dialect", ["postgres", "sqlite"])
def test_no_query_of_the_engine_asks_for_whatever_columns_a_job_may_have(dialect):
    queries = engine_queries(dialect)
    starred = [name for name in queries.names() if re.search(r"\*\s+FROM\s+towpath[._]job\b|\bjob\.\*", queries[name].text)]
    assert starred == []
    assert f"SELECT {', '.join(JOB_COLUMNS)} " in queries["jobs_by_id"].text


def test_comments_and_a_closing_semicolon_do_not_count():
    assert text_of("-- what: for :nobody\nSELECT 1; -- :done", "postgres") == "SELECT 1"


def test_a_file_of_the_dialect_replaces_the_common_query_and_the_other_dialects_is_ignored(tmp_path):
    (tmp_path / "things.sql").write_text("-- name: one\nSELECT 1\n\n-- name: two\nSELECT 2\n")
    (tmp_path / "things.postgres.sql").write_text("-- name: two\nSELECT 'postgres'\n")
    (tmp_path / "things.sqlite.sql").write_text("-- name: two\nSELECT 'sqlite'\n")
    for dialect in ("postgres", "sqlite"):
        queries = Queries(dialect)
        queries.load(tmp_path)
        assert (queries["one"].text, queries["two"].text) == ("SELECT 1", f"SELECT '{dialect}'")


def test_a_query_for_both_databases_may_name_a_fragment_that_each_writes_in_its_own_way(tmp_path):
    (tmp_path / "things.sql").write_text("-- name: age\nSELECT {seconds} FROM thing\n")
    (tmp_path / "things.postgres.sql").write_text("-- fragment: seconds\ndate_part('epoch', at)\n")
    (tmp_path / "things.sqlite.sql").write_text("-- fragment: seconds\nat\n")
    for dialect, seconds in (("postgres", "date_part('epoch', at)"), ("sqlite", "at")):
        queries = Queries(dialect)
        queries.load_fragments(tmp_path)
        queries.load(tmp_path, own=True)
        assert queries["age"].text == f"SELECT {seconds} FROM thing"


def test_no_query_of_the_engine_names_a_fragment_that_its_database_does_not_have():
    for dialect in ("postgres", "sqlite"):
        queries = engine_queries(dialect)
        missing = {name: re.findall(r"\{[a-z_]+\}", queries[name].text) for name in queries.names()}
        assert {name: fragments for name, fragments in missing.items() if fragments} == {}


def test_braces_in_a_query_of_a_slice_are_its_own(tmp_path):
    """PostgreSQL writes lists in them, and the engine has a fragment of nearly every short name."""
    fragment = next(iter(engine_queries("postgres").fragments))
    (tmp_path / "mine.sql").write_text(f"-- name: mine\nSELECT '{{{fragment}}}'::text[], '{{counts}}'::text[]\n")
    queries = engine_queries("postgres")
    queries.load(tmp_path)
    assert queries["mine"].text == f"SELECT '{{{fragment}}}'::text[], '{{counts}}'::text[]"


def test_a_slice_cannot_replace_a_query_of_the_engine_by_accident(tmp_path):
    (tmp_path / "mine.sql").write_text("-- name: lock_jobs\nSELECT 1\n")
    queries = engine_queries("sqlite")
    with pytest.raises(ConfigurationError, match="lock_jobs"):
        queries.load(tmp_path)


def test_a_query_that_does_not_exist_is_named_in_the_error():
    with pytest.raises(LookupError, match="no query named 'nothing' for sqlite"):
        Queries("sqlite")["nothing"]


def test_every_query_that_code_for_both_databases_asks_for_exists_on_both():
    root = Path(towpath.__file__).parent
    shared = [*root.glob("store/*.py"), *root.glob("engine/**/*.py"), *root.glob("cli/**/*.py")]
    asked = {name for file in shared for name in re.findall(r'tx\.(?:fetch|execute|jobs)\(\s*"(\w+)"', file.read_text())}
    assert len(asked) > 20
    for dialect in ("postgres", "sqlite"):
        missing = asked - set(engine_queries(dialect).names())
        assert missing <= {"clear_count_deltas"}, dialect  # asked for where the dialect is known to be SQLite


async def test_postgres_understands_every_query_of_the_engine(postgres_url):
    async with opened(postgres_url):
        connection = await asyncpg.connect(postgres_url)
        try:
            for name in engine_queries("postgres").names():
                query = engine_queries("postgres")[name]
                prepared = await connection.prepare(query.text)
                assert len(prepared.get_parameters()) == len(query.names), name
        finally:
            await connection.close()


async def test_sqlite_understands_every_query_of_the_engine(sqlite_url):
    async with opened(sqlite_url):
        connection = apsw.Connection(str(sqlite_path(sqlite_url)))
        for name in engine_queries("sqlite").names():
            query = engine_queries("sqlite")[name]
            assert connection.execute(f"EXPLAIN {query.text}", dict.fromkeys(query.names)).fetchall(), name
        connection.close()


async def test_a_list_means_the_same_on_both(hands):
    hands.store.queries.add("-- name: of_queues\nSELECT queue FROM towpath.job WHERE queue IN :queues ORDER BY queue")
    hands.store.queries.add(
        "-- name: not_of_queues\nSELECT queue FROM towpath.job WHERE queue NOT IN :queues ORDER BY queue"
    )
    for queue in ("a", "b", "c"):
        await hands.enqueue(queue=queue)

    async def ask(query: str, queues: list[str]) -> list[str]:
        return [row["queue"] for row in await hands.store.read(lambda tx: tx.fetch(query, queues=queues))]

    assert await ask("of_queues", ["a", "c", "z"]) == ["a", "c"]
    assert await ask("not_of_queues", ["a", "c", "z"]) == ["b"]
    assert await ask("of_queues", []) == []
    assert await ask("not_of_queues", []) == ["a", "b", "c"]
