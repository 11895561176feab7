"""A server's database of each released schema, with the tables of all slices, opened by this release."""

import pytest

from tests.products.documents.library import TEXT
from tests.server.api.site import client, ok
from tests.upgrade.fixture_files import kept, load_postgres, load_sqlite, read, shape_of, version_of
from tests.upgrade.products import PASSWORD, SAID, TABLES, WORDS, make_server, reading
from tests.upgrade.schema import schema_of
from tests.upgrade.test_newer_schema import TABLES as TABLES_OF_THE_ENGINE
from towpath import Settings
from towpath.server import attach
from towpath.store.migrating import migrations_of
from towpath.wiring import make_store

DATABASES = [(dialect, path) for dialect in ("sqlite", "postgres") for path in kept(dialect, server=True)]
RELEASES = [pytest.param(path, id=f"{dialect}-{version_of(path)}") for dialect, path in DATABASES]


@pytest.fixture(params=RELEASES)
def kept_url(request, tmp_path):
    fixture = request.param
    if ".sqlite." in fixture.name:
        load_sqlite(read(fixture), tmp_path / "kept.db")
        return f"sqlite:///{tmp_path}/kept.db"
    url = request.getfixturevalue("postgres_url")
    load_postgres(read(fixture), url)
    return url


@pytest.fixture
def upgraded(kept_url, tmp_path):
    """The server of this release on a kept database."""
    return attach(make_server(kept_url, tmp_path / "blobs"))


def table(app, name):
    return f"towpath_{name}" if app.url.startswith("sqlite") else f"towpath.{name}"


def test_there_is_a_kept_database_of_the_first_release_for_each_dialect():
    assert {(dialect, version_of(path)) for dialect, path in DATABASES} >= {("sqlite", "0.1.0"), ("postgres", "0.1.0")}


async def test_every_table_of_every_slice_is_kept_with_rows_and_has_them_still(upgraded):
    async with upgraded as app:
        if app.url.startswith("sqlite"):
            query = "SELECT substr(name, 9) AS name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'towpath_%'"
        else:
            query = (
                "SELECT table_name AS name FROM information_schema.tables "
                "WHERE table_schema = 'towpath' AND table_type = 'BASE TABLE'"
            )
        async with app.transaction() as tx:
            found = {row["name"] for row in await tx.fetch(query)}
            rows = {name: (await tx.fetch(f"SELECT count(*) AS n FROM {table(app, name)}"))[0]["n"] for name in TABLES}
    assert {name for name in found - set(TABLES_OF_THE_ENGINE) if not name.startswith(WORDS)} == set(TABLES)
    assert [name for name in TABLES if not rows[name]] == []


async def test_people_get_in_and_find_what_is_theirs(upgraded):
    async with upgraded as app:
        site = reading(app)
        async with client(site.api) as browser:
            browser.headers["origin"] = "http://testserver"
            assert ok(await browser.post("/api/session", json={"name": "paula", "password": PASSWORD}))
        async with await site.person("root") as root, await site.person("ann") as ann:
            users = ok(await root.get("/api/users"))["items"]
            assert {user["name"] for user in users} == {"ann", "bob", "root", "paula"}
            assert {token["name"] for token in ok(await ann.get("/api/tokens"))["items"]} == {"test"}
            assert "webhook.create" in {line["action"] for line in ok(await root.get("/api/audit"))["items"]}
            [webhook] = ok(await ann.get("/api/webhooks"))["items"]
            deliveries = ok(await ann.get(f"/api/webhooks/{webhook['id']}/deliveries"))["items"]
            assert "ping" in {delivery["event"] for delivery in deliveries}


async def test_recordings_are_what_they_were(upgraded):
    async with upgraded as app:
        site = reading(app)
        async with await site.person("ann") as ann, await site.person("bob") as bob:
            [one] = ok(await ann.get("/api/recordings"))["items"]
            assert (one["title"], one["status"]) == ("Kept talk", "COMPLETED")
            address = f"/api/recordings/{one['id']}"
            found = ok(await ann.get(f"{address}/transcript"))
            assert [line["text"] for line in found["segments"]] == SAID
            assert [(edit["text"], edit["speaker"]) for edit in found["unplaced_edits"]] == [("Everyone", "Sam")]
            assert ok(await ann.get(address))["summary"]["text"]
            [waiting] = ok(await bob.get("/api/recordings"))["items"]
            assert (waiting["title"], waiting["status"]) == ("Kept waiting", "PENDING")


async def test_batches_are_what_they_were(upgraded):
    async with upgraded as app:
        site = reading(app)
        async with await site.person("ann") as ann:
            found = ok(await ann.get("/api/batches"))["items"]
            kept = {(one["title"], one["status"], one["provider"]) for one in found}
            assert kept == {("Kept batch", "PENDING", "LOCAL"), ("requests", "PENDING", "LOCAL")}


async def test_documents_are_what_they_were(upgraded):
    async with upgraded as app:
        site = reading(app)
        async with await site.person("ann") as ann, await site.person("bob") as bob:
            [run] = ok(await ann.get("/api/documents/runs"))["items"]
            assert (run["title"], run["status"]) == ("Kept documents", "COMPLETED")
            [one] = ok(await ann.get("/api/documents"))["items"]
            page = ok(await ann.get(f"/api/documents/{one['id']}/pages/1"))
            assert (one["name"], page["text"].strip()) == ("kept.txt", TEXT)
            found = ok(await ann.get("/api/documents/search", params={"q": "barges"}))["results"]
            assert found[0]["document_id"] == one["id"]
            assert ok(await bob.get("/api/documents"))["items"] == []


async def test_functions_that_have_changed_since_a_release_are_newer_than_its_own(kept_url, upgraded):
    """If this fails, raise `-- revision:` in the file of functions; before that version is released, keep it again instead:
    python -m tests.upgrade.make_fixture VERSION"""
    store = make_store(kept_url, Settings())
    await store.open()
    name = table(upgraded, "migration")
    rows = await store.read(
        lambda tx: tx.fetch_sql(f"SELECT slice, number, revision, checksum FROM {name} WHERE revision > 0")
    )
    await store.close()
    ours = {one.slice: one for part in upgraded._slices for one in migrations_of(part, store.dialect) if one.revision}
    assert {row["slice"] for row in rows} <= ours.keys()
    for row in rows:
        one = ours[row["slice"]]
        assert one.checksum == row["checksum"] or one.mark > (row["slice"], row["number"], row["revision"]), str(one)


async def test_the_migrations_lead_to_the_schema_a_new_server_has(upgraded, tmp_path, request):
    """As in test_upgrading.py, for all slices."""
    async with upgraded as app:
        old = await schema_of(app)
    sqlite = app.url.startswith("sqlite")
    server = None if sqlite else request.getfixturevalue("postgres_server")
    url = f"sqlite:///{tmp_path}/new.db" if sqlite else server.create_database("brand_new_server")
    try:
        async with attach(make_server(url, tmp_path / "blobs")) as fresh:
            assert old == await schema_of(fresh)
    finally:
        if server is not None:
            server.drop_database("brand_new_server")


def test_what_is_kept_can_be_told_apart_from_what_is_not():
    """Rows and schema of a dump, as `test_this_release_can_be_kept` compares them."""
    schema, tables = shape_of('CREATE TABLE "towpath_a" (x);\nINSERT INTO "towpath_a" VALUES(\'1;2\');')
    assert (schema, tables) == (['CREATE TABLE "towpath_a" (x)'], {"a"})
