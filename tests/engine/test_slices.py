"""A slice: one's own tables and named queries beside the engine's, on both databases."""

import pytest

from towpath import App, ConfigurationError, Context, Settings, Slice, State
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
