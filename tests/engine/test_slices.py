"""A slice: one's own tables and named queries beside the engine's, on both databases."""

from datetime import timedelta

import pytest

from towpath import App, ConfigurationError, Context, Settings, Slice, State, moment
from towpath.store.statements import statements
from towpath.testing import drain

MIGRATION = """
CREATE TABLE shop_order (
    id         text PRIMARY KEY,
    note       text NOT NULL DEFAULT 'none; yet',  -- a semicolon in a literal; and in a comment
    created_at text NOT NULL,
    minute     integer NOT NULL DEFAULT 5
);
CREATE INDEX shop_order_note ON shop_order (note);
"""
QUERIES = """
-- name: add_order
INSERT INTO shop_order (id, created_at) VALUES (:id, :created_at)

-- name: shop_orders
SELECT * FROM shop_order WHERE id IN :ids ORDER BY id

-- name: shop_jobs
SELECT operation, state FROM towpath.job ORDER BY id
"""


@pytest.fixture
def folder(tmp_path):
    for name, text in {"migrations/0001_orders.sql": MIGRATION, "queries/orders.sql": QUERIES}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def make_app(url, folder):
    app = App(url, settings=Settings(blobs_url=(folder / "blobs").as_uri()))
    app.add_slice(Slice("shop", folder / "migrations", folder / "queries"))

    @app.operation("ship")
    async def ship(ctx: Context, payload: str):
        return payload

    return app


async def test_a_slice_has_tables_queries_and_jobs_in_one_transaction(database_url, folder):
    app = make_app(database_url, folder)
    async with app:
        async with app.transaction() as tx:
            for name in ("a", "b"):
                await tx.query("add_order", id=name, created_at="yesterday")
                await tx.enqueue("ship", name)
        with pytest.raises(ZeroDivisionError):
            await _order_and_fail(app)
        await drain(app)
        async with app.transaction() as tx:
            orders = await tx.query("shop_orders", ids=["a", "b", "c"])
            jobs = await tx.query("shop_jobs")
    assert [(row["id"], row["note"]) for row in orders] == [("a", "none; yet"), ("b", "none; yet")]
    assert [(row["operation"], row["state"]) for row in jobs] == [("ship", State.SUCCEEDED)] * 2


async def _order_and_fail(app):
    async with app.transaction() as tx:
        await tx.query("add_order", id="c", created_at="today")
        await tx.enqueue("ship", "c")
        raise ZeroDivisionError


async def test_a_column_of_a_slice_is_never_taken_for_one_of_the_engines(database_url, folder):
    """`created_at` and `minute` are instants in the engine's tables, and whatever they are in a slice's."""
    async with make_app(database_url, folder) as app, app.transaction() as tx:
        await tx.query("add_order", id="a", created_at="long ago")
        [order] = await tx.query("shop_orders", ids=["a"])
    assert (order["created_at"], order["minute"]) == ("long ago", 5)


async def test_migrations_of_a_slice_are_applied_once_and_recorded(database_url, folder):
    async with make_app(database_url, folder) as app:
        assert await app.pending_migrations() == []
    (folder / "migrations/0002_more.sql").write_text("ALTER TABLE shop_order ADD COLUMN total integer")
    async with make_app(database_url, folder) as app:
        assert await app.pending_migrations() == []
        async with app.transaction() as tx:
            assert await tx.execute("UPDATE shop_order SET total = 1") == 0


async def test_a_query_that_would_replace_one_of_the_engines_is_refused(sqlite_url, folder):
    (folder / "queries/more.sql").write_text("-- name: steps\nSELECT 1")
    app = make_app(sqlite_url, folder)
    with pytest.raises(ConfigurationError, match="'steps'"):
        await app.open()


def test_statements_are_cut_where_they_end_and_nowhere_else():
    assert statements("-- first; comment\nSELECT 1; SELECT ';' || '''; ' -- not; here\n; /* nor; here */ SELECT 2;\n") == [
        "SELECT 1",
        "SELECT ';' || '''; ' -- not; here",
        "SELECT 2",
    ]


def test_the_body_of_a_function_is_one_piece():
    body = "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $body$ SELECT 1; SELECT $$;$$ $body$"
    assert statements(f"{body};\nSELECT 2") == [body, "SELECT 2"]


def test_the_body_of_a_trigger_is_one_piece():
    trigger = (
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n"
        "  UPDATE b SET n = CASE WHEN n > 0 THEN 1 ELSE 2 END;\n  DELETE FROM c;\nEND"
    )
    plain = "CREATE TRIGGER u AFTER INSERT ON a FOR EACH ROW EXECUTE FUNCTION f()"
    assert statements(f"{plain};\n{trigger};\nSELECT 'END;'; SELECT 2") == [plain, trigger, "SELECT 'END;'", "SELECT 2"]


VIEW = "CREATE VIEW shop_waiting AS SELECT operation FROM towpath.job WHERE state = 'queued'"
TABLE = "CREATE TABLE shop_gone (operation text NOT NULL)"
TRIGGERS = {
    "sqlite": """
DROP TRIGGER IF EXISTS shop_outlives;
CREATE TRIGGER shop_outlives BEFORE DELETE ON towpath.job WHEN OLD.subject_kind = 'order' BEGIN
    INSERT INTO shop_gone (operation) VALUES (OLD.operation);
END;
""",
    "postgres": """
CREATE OR REPLACE FUNCTION shop_outlives() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO shop_gone (operation) VALUES (OLD.operation);
    RETURN OLD;
END
$$;
CREATE OR REPLACE TRIGGER shop_outlives BEFORE DELETE ON towpath.job
FOR EACH ROW WHEN (OLD.subject_kind = 'order') EXECUTE FUNCTION shop_outlives();
""",
}


async def test_migrations_and_functions_name_the_engines_tables_like_queries_do(database_url, folder):
    (folder / "migrations/0002_gone.sql").write_text(f"{TABLE};\n{VIEW};")
    for dialect, text in TRIGGERS.items():
        (folder / f"migrations/functions.{dialect}.sql").write_text(text)
    async with make_app(database_url, folder) as app:
        ids = [(await app.enqueue("ship", "x", subject=subject)).id for subject in (None, ("order", "1"))]
        async with app.transaction() as tx:
            assert [row["operation"] for row in await tx.fetch("SELECT operation FROM shop_waiting")] == ["ship"] * 2
        await app.remove(ids)
        async with app.transaction() as tx:
            assert [row["operation"] for row in await tx.fetch("SELECT operation FROM shop_gone")] == ["ship"]
        assert await app.pending_migrations() == []


async def test_a_slice_hears_whether_it_is_new_to_the_app(database_url, folder):
    app, part = App(database_url), Slice("shop", folder / "migrations", folder / "queries")
    assert app.add_slice(part) is True
    assert app.add_slice(part) is False


async def test_a_time_is_one_moment_whichever_database_kept_it(database_url, folder):
    """A column of times is REAL on SQLite; under some names it is read as a time, under others as seconds."""
    kind = "REAL" if database_url.startswith("sqlite") else "timestamptz"
    table = f"CREATE TABLE shop_visit (created_at {kind} NOT NULL, left_at {kind}, seen {kind} NOT NULL)"
    (folder / "migrations/0002_visits.sql").write_text(table)
    (folder / "queries/visits.sql").write_text(
        "-- name: shop_visit_add\nINSERT INTO shop_visit (created_at, seen) VALUES (:now, :now)\n"
        "-- name: shop_visits\nSELECT created_at, left_at, seen FROM shop_visit WHERE seen <= :now"
    )
    async with make_app(database_url, folder) as app:
        then = await app.now()
        await app.transact(lambda tx: tx.change("shop_visit_add", now=then))
        [row] = await app.query("shop_visits", now=then)
    assert moment(row["created_at"]) == moment(row["seen"]) == then
    assert moment(row["seen"]).utcoffset() == timedelta(0)
    assert moment(row["left_at"]) is None
