"""People, files, webhooks and recordings, for databases that are kept; and what a later release must still know of them.

They are made over HTTP and by the rooms' own calls, so that every row is as the release wrote it. The two things that need
somebody outside, a log-in at an OpenID provider and audio that is being decoded, are put there by their named queries.
"""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.assets import tus
from tests.engine.working import in_state, working
from tests.products.documents.library import TEXT, Library
from tests.products.fleet.yard import DAWDLE, Yard
from tests.products.recordings.ear import Ear
from tests.products.recordings.studio import QUIET, Studio, opened_studio
from tests.server.api.site import Site, client, ok
from towpath import App, Settings
from towpath.choices import changing
from towpath.fleet.arrivals import Intake
from towpath.fleet.intake import Wanted
from towpath.fleet.notices import remember
from towpath.fleet.storage import Place
from towpath.identity import accounts, links, passwords
from towpath.recordings import windows
from towpath.server import create_app

PASSWORD = "four quiet barges pass"
SERVICE_KEY = "kept-key"
SAID = ["Good morning", "ever", "yone pays 12 euros"]
TABLES = [
    "account", "membership", "session", "token", "link", "throttle", "oidc_account", "oidc_flow", "audit", "device",
    "asset", "asset_usage", "asset_upload", "asset_part", "webhook", "webhook_delivery", "webhook_cursor",
    "recording", "recording_transcript", "recording_line", "recording_unplaced", "recording_summary", "recording_share",
    "inbox_dismissal", "recording_template", "recording_tag", "recording_speaker", "recording_speed", "recording_decoded",
    "batch", "batch_dataset", "batch_gathering", "batch_request",
    "document_run", "document_item", "document", "document_result", "document_hold",
    "fleet_task", "fleet_object", "fleet_dispatch", "fleet_note", "fleet_worker", "fleet_intake",
    "fleet_room", "model_service", "model_choice",
    "search_source", "search_tag", "search_passage", "search_vectors", "search_mention",
]  # fmt: skip
"""Of all slices but the engine's, each with a row at least."""
WORDS = ("search_words", "search_vocabulary", "search_places", "search_term", "search_near")
"""What begins like this holds words and vectors as the database wants them: each has tables of its own."""


def make_server(url: str, blobs: Path) -> App:
    chosen = Settings(
        blobs_url=blobs.absolute().as_uri(),
        poll_seconds=0.2,
        drain_seconds=0.2,
        pool_size=4,
        allow_private_urls=True,
        secret_key="a secret that every release is given",
    )
    return App(url, settings=chosen)


async def fill_server(url: str, blobs: Path) -> None:
    ear, windows_before = Ear(), windows._hear_window
    windows._hear_window = ear.hear
    try:
        async with opened_studio(make_server(url, blobs)) as studio:
            await _log_in(studio.site)
            await _send_half(studio)
            await _listen(studio.site)
            await _record(studio, ear)
            await _ask(studio.site)
            await _read(studio.site)
            await _hand_out(studio.site)
            await _put_the_rest(studio.app)
            await _choose(studio.app)
    finally:
        windows._hear_window = windows_before


async def _log_in(site: Site) -> None:
    """Somebody with a password, who has logged in, and whose name somebody else has tried."""
    store = site.app.services.store
    await accounts.create(store, "paula", tenants=["north"], password=await passwords.hashed(PASSWORD))
    async with client(site.api, base="http://testserver") as browser:
        browser.headers["origin"] = "http://testserver"
        ok(await browser.post("/api/session", json={"name": "paula", "password": PASSWORD}))
        assert (await browser.post("/api/session", json={"name": "ann", "password": "a guess"})).status_code == 401
    await links.make(store, (await accounts.find_by_name(store, "bob")).id, "reset")


async def _send_half(studio: Studio) -> None:
    """A file that is still on its way."""
    where = await tus.begun(studio.ann, len(QUIET), purpose="recording")
    assert (await tus.send(studio.ann, where, 0, QUIET[: len(QUIET) // 2])).status_code == 204


async def _listen(site: Site) -> None:
    """A webhook, and a delivery that nobody has made yet."""
    made = ok(await site.ann.post("/api/webhooks", json={"url": "http://127.0.0.1:9/towpath"}), 201)
    ok(await site.ann.post(f"/api/webhooks/{made['id']}/test"), 201)
    group = {"operation": "transcribe", "kind": "fatal", "message": "no longer wanted"}
    assert (await site.ann.post("/api/inbox/dismiss", json=group)).status_code == 204


async def _record(studio: Studio, ear: Ear) -> None:
    """A recording with a summary, corrections, one of which has lost its line, and a link for others; and one that waits."""
    ear.hears = [(0.0, 0.4, "good mourning"), (0.5, 0.9, "every one")]
    one = (await studio.finished(QUIET, "talk.wav", title="Kept talk"))["id"]
    address = f"/api/recordings/{one}"
    ok(await studio.ann.patch(f"{address}/transcript/0", json={"text": SAID[0]}))
    ok(await studio.ann.patch(f"{address}/transcript/1", json={"text": "Everyone", "speaker": "Sam"}))
    ear.hears = [(0.0, 0.4, "good moaning"), (0.5, 0.7, "ever"), (0.7, 0.9, SAID[2])]
    ok(await studio.ann.post(f"{address}/reprocess", json={}), 202)
    async with studio.working():
        await studio.done(one)
    ok(await studio.ann.patch(address, json={"tags": ["Kept"]}))
    ok(
        await studio.ann.post("/api/recordings/templates", json={"name": "Kept template", "prompt": "Make a song of it."}),
        201,
    )
    ok(await studio.ann.post(f"{address}/shares", json={"hours": 24, "with_audio": True}), 201)
    await studio.upload(QUIET, "waiting.wav", title="Kept waiting", by=studio.bob)


async def _ask(site: Site) -> None:
    """A batch that nobody has begun with, and one that waits for more requests than it has."""
    asked = [{"custom_id": "a", "body": {"messages": [{"role": "user", "content": "Who goes there?"}]}}]
    given = {"provider": "LOCAL", "models": ["m"], "title": "Kept batch", "requests": asked}
    site.app.settings = replace(site.app.settings, chat_url="http://127.0.0.1:9/v1")  # which nobody asks
    ok(await site.ann.post("/api/batches/completion", json=given), 202)
    one = {"provider": "LOCAL", "model": "m", "body": asked[0]["body"]}
    job_id = ok(await site.ann.post("/api/batches/requests", json=one), 202)["job_id"]
    async with working(site.app, "batches.requests"):
        await in_state(site.app, job_id, "waiting")


async def _read(site: Site) -> None:
    """A document that can be found."""
    library = Library(site)
    run, _ = await library.finished(("kept.txt", TEXT), title="Kept documents")
    assert run["status"] == "COMPLETED"


async def _hand_out(site: Site) -> None:
    """A task that a remote worker has, and an object of a bucket that waits for one."""
    yard = Yard(site)
    hand = await yard.hand("kept worker")
    async with yard.working():
        await yard.make(DAWDLE, data=b"kept")
        task = await hand.claimed(DAWDLE)
        await hand.say(task, "IN-PROGRESS", progress=1, notes=[{"number": 1, "name": "kept.note"}])
    place = Place("s3://kept", "")
    await remember(site.app, Intake(place, place, "", Wanted(), "north"))
    await site.app.transact(lambda tx: tx.change("fleet_object_add", source="s3://kept", object_key="kept.wav"))


async def _put_the_rest(app: App) -> None:
    account = await accounts.find_by_name(app.services.store, "paula")

    async def unit(tx: Any) -> None:
        much_later = tx.now + timedelta(days=36500)
        hashes = {"state_hash": "state", "browser_hash": "browser", "nonce": "nonce", "verifier": "verifier"}
        await tx.execute("oidc_flow_add", **hashes, expires_at=much_later)
        issuer = {"issuer": "https://id.example.com", "subject": "4711"}
        await tx.execute("oidc_account_add", **issuer, account_id=account.id, now=tx.now)
        [job] = await tx.fetch_sql(
            "SELECT id FROM towpath_job LIMIT 1" if tx.dialect == "sqlite" else "SELECT id FROM towpath.job LIMIT 1"
        )
        await tx.execute("decoded_take", id=str(job["id"]), tenant="north", bytes=32000)

    await app.services.store.run(unit)


async def _choose(app: App) -> None:
    """A service with a key, and what everybody's questions go to."""
    wanted = changing.Wanted("http://127.0.0.1:9/v1", "kept", key=SERVICE_KEY)
    await changing.add_service(app, "kept", "chat", wanted)
    await changing.choose(app, "chat", "service/kept")


def reading(app: App) -> Site:
    """Its server, for people who are there already."""
    return Site(app, None, create_app(app))  # type: ignore[arg-type]  # nobody shops
