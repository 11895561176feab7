"""Every route × another tenant's ids: nobody learns of them, or moves them, through any route, download or stream.

`CASES` says of every operation of the API how it is tried. A route that is new has no case, and fails here until it has.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx
import pytest

from tests.assets import tus
from tests.engine.working import ended, working
from tests.server.api.site import Site, client, ok
from towpath import assets, search
from towpath.identity import accounts, links
from towpath.knowledge.names import ASK
from towpath.recordings import intake, stored
from towpath.server import openapi

MARK = "the-south-has-a-secret"
WAVE = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(24)
TEXT = f"a text about {MARK}".encode()
SHA256_OF_TEXT = hashlib.sha256(TEXT).hexdigest()
HIDDEN = "hidden"  # ids in the path: 404, as if there were nothing
ADMINS = "admins"  # 403 for everybody else
CLEAN = "clean"  # answers, and nothing of another tenant is in the answer
REFUSED = "refused"  # asked for another tenant by name: 403
EMPTY = "empty"  # filters by another tenant's ids find nothing


@dataclass(frozen=True)
class Case:
    kind: str
    body: Any = None
    query: dict[str, str] = field(default_factory=dict)


JOB_FILTERS = ("parent", "root", "text", "after")
CASES: dict[str, list[Case]] = {
    # jobs
    "get_job": [Case(HIDDEN)],
    "delete_job": [Case(HIDDEN)],
    "update_job": [Case(HIDDEN, {"priority": 2})],
    "cancel_job": [Case(HIDDEN)],
    "retry_job": [Case(HIDDEN, {}), Case(HIDDEN)],
    "signal_job": [Case(HIDDEN, {"name": "go"})],
    "list_job_children": [Case(HIDDEN)],
    "list_job_events": [Case(HIDDEN)],
    "download_job_payload": [Case(HIDDEN)],
    "download_job_result": [Case(HIDDEN)],
    "list_jobs": [
        Case(CLEAN),
        Case(CLEAN, query={"text": MARK}),
        *[Case(CLEAN, query={name: "{job}"}) for name in JOB_FILTERS],
        *[Case(CLEAN, query={"state": name}) for name in ("queued", "failed", "succeeded", "running", "waiting")],
        Case(REFUSED, query={"tenant": "south"}),
    ],
    "count_jobs": [Case(CLEAN), Case(REFUSED, query={"tenant": "south"})],
    "create_job": [
        Case(REFUSED, {"operation": "greet", "payload": {"name": "n"}, "tenant": "south"}),
        Case(HIDDEN, {"operation": "follow", "payload": {"after": "{job}"}}),
    ],
    "bulk_update_jobs": [
        *[Case(EMPTY, {"action": action, "ids": ["{job}"]}) for action in ("cancel", "retry", "delete")],
        *[Case(EMPTY, {"action": action, "filter": {"text": MARK}}) for action in ("cancel", "retry", "delete")],
        Case(REFUSED, {"action": "cancel", "filter": {"tenant": "south"}}),
    ],
    "stream_events": [Case(HIDDEN, query={"job_id": "{job}"}), Case(REFUSED, query={"tenant": "south"})],
    # inbox
    "list_inbox": [Case(CLEAN), Case(REFUSED, query={"tenant": "south"})],
    "list_inbox_jobs": [Case(CLEAN), Case(CLEAN, query={"operation": "break"}), Case(REFUSED, query={"tenant": "south"})],
    "requeue_inbox": [Case(EMPTY, {"ids": ["{job}"]}), Case(EMPTY, {"all": True})],
    # what all tenants share, without the names of others in it
    "list_operations": [Case(CLEAN)],
    "list_queues": [Case(CLEAN)],
    "get_queue": [Case(CLEAN)],
    "list_workers": [Case(CLEAN)],
    "list_schedules": [Case(CLEAN)],
    "get_stats": [Case(CLEAN), Case(REFUSED, query={"tenant": "south"})],
    # for administrators
    "update_queue": [Case(ADMINS, {"max_slots": 1})],
    "set_lane": [Case(ADMINS, {})],
    "pause_queue": [Case(ADMINS)],
    "resume_queue": [Case(ADMINS)],
    "create_schedule": [Case(ADMINS, {"name": "mine", "cron": "0 3 * * *", "operation": "greet", "tenant": "south"})],
    "get_schedule": [Case(HIDDEN)],
    "update_schedule": [Case(ADMINS, {"cron": "0 3 * * *", "operation": "greet"})],
    "delete_schedule": [Case(ADMINS)],
    "fire_schedule": [Case(ADMINS)],
    "pause_schedule": [Case(ADMINS)],
    "resume_schedule": [Case(ADMINS)],
    "get_prices": [Case(ADMINS)],
    "set_prices": [Case(ADMINS, {})],
    "list_models": [Case(CLEAN)],
    "set_default_model": [Case(ADMINS, {"model": None})],
    "list_model_services": [Case(ADMINS)],
    "create_model_service": [Case(ADMINS, {"name": "x", "kind": "chat", "url": "http://127.0.0.1:9/v1", "model": "m"})],
    "update_model_service": [Case(ADMINS, {"url": "http://127.0.0.1:9/v1", "model": "m"})],
    "delete_model_service": [Case(ADMINS)],
    "test_model_service": [Case(ADMINS, {"kind": "chat", "model": "environment"})],
    "pull_model": [Case(ADMINS, {"model": "whisper/tiny"})],
    "delete_model": [Case(ADMINS)],
    "list_limits": [Case(CLEAN)],
    "set_limit": [Case(ADMINS, {"cents": 1})],
    "clear_limit": [Case(ADMINS)],
    "list_users": [Case(ADMINS)],
    "create_user": [Case(ADMINS, {"name": "x", "tenants": ["south"]})],
    "delete_user": [Case(ADMINS)],
    "update_user": [Case(ADMINS, {"disabled": True})],
    "create_reset_link": [Case(ADMINS)],
    "list_audit": [Case(ADMINS)],
    "get_metrics": [Case(ADMINS)],
    # recordings
    "get_recording": [Case(HIDDEN)],
    "update_recording": [Case(HIDDEN, {"title": "mine now"})],
    "delete_recording": [Case(HIDDEN)],
    "cancel_recording": [Case(HIDDEN)],
    "reprocess_recording": [Case(HIDDEN, {}), Case(HIDDEN, {"what": "summary"})],
    "play_recording": [Case(HIDDEN)],
    "get_waveform": [Case(HIDDEN)],
    "get_transcript": [Case(HIDDEN), Case(HIDDEN, query={"search": MARK})],
    "update_transcript_line": [Case(HIDDEN, {"text": "mine now"})],
    "list_speakers": [Case(HIDDEN)],
    "rename_speaker": [Case(HIDDEN, {"name": "mine now"})],
    "merge_speakers": [Case(HIDDEN, {"into": 1})],
    "split_speaker": [Case(HIDDEN, {})],
    "export_recording": [Case(HIDDEN), Case(HIDDEN, query={"format": "json"})],
    "export_recordings": [Case(HIDDEN, query={"id": "{recording}"})],
    "list_shares": [Case(HIDDEN)],
    "create_share": [Case(HIDDEN, {"with_audio": True})],
    "delete_share": [Case(HIDDEN)],
    "dismiss_unplaced_edit": [Case(HIDDEN)],
    "retry_recording_job": [Case(HIDDEN)],
    "delete_recording_job": [Case(HIDDEN)],
    "get_job_queue_status": [Case(CLEAN)],
    "clear_completed_jobs": [Case(CLEAN)],
    "get_example": [Case(CLEAN)],
    "remove_example": [Case(ADMINS)],
    "find_recording_alike": [Case(CLEAN, query={"sha256": hashlib.sha256(WAVE).hexdigest()})],
    "list_recordings": [
        Case(CLEAN),
        Case(CLEAN, query={"text": MARK}),
        Case(CLEAN, query={"tag": MARK}),
        Case(CLEAN, query={"after": "{recording}"}),
        Case(REFUSED, query={"tenant": "south"}),
    ],
    "bulk_update_recordings": [
        Case(EMPTY, {"action": action, "ids": ["{recording}"]})
        for action in ("retry", "cancel", "delete", "reprocess_transcription", "reprocess_summary", "tag", "untag")
    ],
    "list_recording_tags": [Case(CLEAN), Case(REFUSED, query={"tenant": "south"})],
    "list_templates": [Case(CLEAN)],
    "update_template": [Case(HIDDEN, {"name": "mine", "prompt": "mine now"})],
    "delete_template": [Case(HIDDEN)],
    # what the index has
    "search_documents": [
        Case(CLEAN, query={"q": MARK}),
        *[Case(CLEAN, query={"q": "secret", name: "{recording}"}) for name in ("run", "document_id", "recording_id")],
        Case(REFUSED, query={"q": MARK, "tenant": "south"}),
    ],
    "get_passage": [Case(HIDDEN), Case(REFUSED, query={"tenant": "south"})],
    "list_entities": [
        Case(CLEAN),
        Case(CLEAN, query={"recording_id": "{recording}"}),
        Case(CLEAN, query={"q": "hidden"}),
        Case(REFUSED, query={"tenant": "south"}),
    ],
    "ask_documents": [
        Case(HIDDEN, {"question": MARK, "recording_id": "{recording}"}),
        Case(HIDDEN, {"question": MARK, "document_id": "{recording}"}),
    ],
    "list_questions": [Case(CLEAN, query={name: "{recording}"}) for name in ("recording_id", "document_id")],
    "get_answer": [Case(HIDDEN)],
    "can_ask": [Case(CLEAN)],
    # batches
    "get_batch": [Case(HIDDEN)],
    "get_batch_results": [Case(HIDDEN)],
    "preview_batch_results": [Case(HIDDEN)],
    "cancel_batch": [Case(HIDDEN)],
    "retry_batch": [Case(HIDDEN)],
    "delete_batch": [Case(HIDDEN)],
    "adopt_provider_job": [Case(HIDDEN, {"external_id": "mine"})],
    "resubmit_provider_job": [Case(HIDDEN)],
    "create_completion_batch": [Case(HIDDEN, {"provider": "OPENAI", "models": ["m"], "input": "{asset}"})],
    "ask_in_a_batch": [Case(CLEAN, {"provider": "OPENAI", "model": "m", "body": {"say": "hello"}})],
    "create_transcription_batch": [Case("unfit", {"provider": "AZURE", "dataset_ids": ["{dataset}"]})],
    "get_batch_input": [Case(HIDDEN, query={"token": "e30.x"})],
    "estimate_batch": [
        Case(HIDDEN, {"models": ["m"], "input": "{asset}"}),
        Case(HIDDEN, {"models": ["m"], "dataset_ids": ["{dataset}"]}),
    ],
    "get_dataset": [Case(HIDDEN)],
    "delete_dataset": [Case(HIDDEN)],
    "create_dataset": [Case(HIDDEN, {"input": "{asset}"})],
    "list_datasets": [Case(CLEAN), Case(CLEAN, query={"after": "{dataset}"}), Case(REFUSED, query={"tenant": "south"})],
    "list_batches": [Case(CLEAN), Case(CLEAN, query={"after": "{batch}"}), Case(REFUSED, query={"tenant": "south"})],
    "list_providers": [Case(CLEAN)],
    # documents
    "get_document_run": [Case(HIDDEN)],
    "list_document_run_causes": [Case(HIDDEN)],
    "cancel_document_run": [Case(HIDDEN)],
    "retry_document_run": [Case(HIDDEN, {})],
    "limit_document_run": [Case(HIDDEN, {"budget_cents": 5})],
    "delete_document_run": [Case(HIDDEN)],
    "list_document_items": [Case(HIDDEN)],
    "get_document_item": [Case(HIDDEN)],
    "list_document_item_events": [Case(HIDDEN)],
    "create_document_run": [
        Case("unfit", {"kind": "upload", "items": [{"asset_id": "{asset}"}]}),
        Case("unfit", {"kind": "reingest", "items": [{"document_id": "{document}"}]}),
    ],
    "list_document_runs": [Case(CLEAN), Case(CLEAN, query={"after": "{run}"}), Case(REFUSED, query={"tenant": "south"})],
    "list_documents": [
        Case(CLEAN),
        Case(CLEAN, query={"text": MARK}),
        Case(CLEAN, query={"after": "{document}"}),
        Case(REFUSED, query={"tenant": "south"}),
    ],
    "find_known_documents": [Case(CLEAN, {"items": [{"source": f"{MARK}.txt", "sha256": SHA256_OF_TEXT}]})],
    "find_document_items": [Case(CLEAN, query={"id": "{item}"})],
    "list_document_readings": [Case(HIDDEN)],
    "get_document": [Case(HIDDEN)],
    "get_document_page": [Case(HIDDEN)],
    "get_document_file": [Case(HIDDEN)],
    "reingest_document": [Case(HIDDEN, {})],
    "delete_document": [Case(HIDDEN)],
    # the fleet
    "list_fleet_tasks": [
        Case(CLEAN),
        Case(CLEAN, query={"after": "{task}"}),
        Case(REFUSED, query={"tenant": "south"}),
    ],
    "create_fleet_task": [Case(HIDDEN, {"asset_id": "{asset}"})],
    "get_fleet_task": [Case(HIDDEN)],
    "get_fleet_task_result": [Case(HIDDEN)],
    "cancel_fleet_task": [Case(HIDDEN)],
    "retry_fleet_task": [Case(HIDDEN)],
    "delete_fleet_task": [Case(HIDDEN)],
    "get_fleet_report": [Case(CLEAN), Case(REFUSED, query={"tenant": "south"})],
    "get_fleet_report_csv": [
        *[Case(CLEAN, query={"what": name}) for name in ("tasks", "trend", "causes", "workers")],
        Case(REFUSED, query={"tenant": "south"}),
    ],
    "get_fleet_object": [Case(HIDDEN, query={"token": "GET.9999999999.x"})],
    "put_fleet_object": [Case(HIDDEN, query={"token": "PUT.9999999999.x"})],
    "list_fleet_workers": [Case(ADMINS)],
    "create_fleet_worker": [Case(ADMINS, {"name": "mine"})],
    "revoke_fleet_worker": [Case(ADMINS)],
    # assets
    "get_asset": [Case(HIDDEN)],
    "get_asset_content": [Case(HIDDEN)],
    "get_asset_usage": [Case(CLEAN), Case(REFUSED, query={"tenant": "south"})],
    "get_upload": [Case(HIDDEN)],
    "append_to_upload": [Case(HIDDEN)],
    "delete_upload": [Case(HIDDEN)],
    # one's own
    "list_tokens": [Case(CLEAN)],
    "create_token": [Case("unfit", {"name": "t", "tenant": "south"})],
    "revoke_token": [Case(HIDDEN)],
    "get_session": [Case(CLEAN)],
    "list_sessions": [Case(CLEAN)],
    "end_session": [Case(HIDDEN)],
    "switch_tenant": [Case(REFUSED, {"tenant": "south"})],
    "list_webhooks": [Case(CLEAN), Case(REFUSED, query={"tenant": "south"})],
    "create_webhook": [Case(REFUSED, {"url": "https://example.com/hook", "states": ["failed"], "tenant": "south"})],
    "update_webhook": [Case(HIDDEN, {"active": False})],
    "delete_webhook": [Case(HIDDEN)],
    "test_webhook": [Case(HIDDEN)],
    "list_deliveries": [Case(HIDDEN)],
    "replay_delivery": [Case(HIDDEN)],
}
A_BATCH = {"provider": "OPENAI", "models": ["m"], "title": MARK, "requests": [{"custom_id": MARK, "body": {"messages": []}}]}
NOT_ABOUT_TENANTS = {
    "get_login_methods", "begin_oidc_login", "finish_oidc_login", "log_in", "log_in_by_link", "log_out", "change_password",
    "reset_password", "check_health", "check_readiness", "upload_recording",
    "dismiss_inbox_group", "restore_inbox_group", "create_template", "open_share",
    "play_shared_audio", "get_shared_waveform", "create_upload", "provider_callback",
    "claim_fleet_task", "report_fleet_status", "notify_fleet", "pubsub_push",
}  # fmt: skip


@dataclass
class South:
    """What the other tenant has, by the names of path parameters."""

    ids: dict[str, str]
    jobs: list[str]

    def fill(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self.fill(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        if not isinstance(value, str):
            return value
        value = value.replace("{job}", self.ids["id"]).replace("{recording}", self.ids["recording_id"])
        for name in ("asset", "batch", "dataset", "run", "item", "document", "task"):
            value = value.replace(f"{{{name}}}", self.ids[f"{name}_id"])
        return value

    def shown_in(self, text: str, path: str) -> list[str]:
        """Which of its marks are in a text."""
        marks = [
            MARK,
            '"south"',
            *self.jobs,
            *(one for name, one in self.ids.items() if name not in ("name", "lane", "number", "attempt", "kind", "model")),
        ]
        return [mark for mark in marks if mark in text and mark not in path]


@pytest.fixture
async def south(site: Site) -> South:
    store, bob = site.app.services.store, site.bob
    jobs = await site.app.enqueue_many(
        {"operation": operation, "payload": payload, "tenant": "south", "key": f"{MARK}-{operation}"}
        for operation, payload in (
            ("greet", {"name": MARK}), ("break", MARK), ("fan", {"children": 2}), ("long", 100_000), ("wait", None),
        )
    )  # fmt: skip
    async with working(site.app):
        await asyncio.gather(*[ended(site.app, job) for job in jobs[:4]])
    jobs.append(await site.app.enqueue("greet", {"name": MARK}, tenant="south", delay=3600))
    account = await accounts.find_by_name(store, "bob")
    async with browser_of(site, "bob") as browser:
        [session, *_] = ok(await browser.get("/api/sessions"))
    [token] = ok(await bob.get("/api/tokens"))["items"]
    webhook = ok(await bob.post("/api/webhooks", json={"url": f"https://93.184.216.34/{MARK}", "states": ["failed"]}), 201)
    delivery = await bob.post(f"/api/webhooks/{webhook['id']}/test")
    assert delivery.status_code < 300, delivery.text
    recording, recording_job = await a_recording(site)
    share = ok(await bob.post(f"/api/recordings/{recording}/shares", json={}), 201)
    jobs.append(await site.app.get(recording_job))
    about = tus.metadata(filename=f"{MARK}.wav", purpose="recording")
    upload = await bob.post("/api/uploads", headers=tus.VERSION | {"Upload-Length": "9", "Upload-Metadata": about})
    [found] = await stored.by_ids(site.app, [recording])
    batch = ok(await bob.post("/api/batches/completion", json=A_BATCH), 202)
    jobs.append(await site.app.get(batch["job_id"]))
    task = ok(await bob.post("/api/fleet/tasks", json={"asset_id": found.asset_id, "settings": {"say": MARK}}), 202)
    jobs.append(await site.app.get(task["job_id"]))
    read = await a_document(site)
    about = (search.questions_about("recording"), recording)
    question = await site.app.enqueue(ASK, {"question": MARK}, tenant="south", subject=about)
    ok(await bob.patch(f"/api/recordings/{recording}", json={"tags": [MARK]}))
    template = ok(await bob.post("/api/recordings/templates", json={"name": MARK, "prompt": MARK}), 201)
    jobs.append(question)
    await in_the_index(site, recording)
    ids = {
        "template_id": template["id"], "question_id": question.id, "passage_id": f"recording/{recording}/0",
        "task_id": task["id"], "attempt": "1", "worker_id": account.id,
        "batch_id": batch["id"], "run_id": read["run_id"], "item_id": read["id"], "document_id": read["document_id"],
        "provider_job_id": "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b61",
        "dataset_id": ok(await bob.get(f"/api/batches/{batch['id']}"))["dataset_ids"][0],
        "asset_id": found.asset_id, "upload_id": upload.headers["location"].rsplit("/", 1)[1],
        "recording_id": recording, "job_id": recording_job, "share_id": share["id"], "number": "1",
        "edit_id": await an_unplaced_edit(site, recording),
        "id": jobs[1].id, "token_id": token["id"], "session_id": session["id"], "user_id": account.id,
        "webhook_id": webhook["id"], "delivery_id": delivery.json()["id"], "name": "back", "lane": "south",
        "kind": "speech", "model": "whisper/tiny",
        "tenant": "south",
    }  # fmt: skip
    return South(ids, [job.id for job in jobs])


async def a_recording(site: Site) -> tuple[str, str]:
    """Of the other tenant, waiting to be transcribed; the ids of it and of its job."""

    async def pieces() -> AsyncIterator[bytes]:
        yield WAVE

    asset = await assets.receive(site.app, "south", f"{MARK}.wav", pieces(), kinds=assets.MEDIA, created_by=None)
    return await intake.create(site.app, asset, intake.Options(title=MARK), intake.Uploader("south", name="bob"))


async def in_the_index(site: Site, recording_id: str) -> None:
    source = search.Source("south", "recording", recording_id, title=MARK)
    passages = [search.Passage(f"Dr. Hidden Person says {MARK}.", mentions=search.mentions("Dr. Hidden Person"))]
    await site.app.transact(lambda tx: search.replace(tx, source, passages))


async def a_document(site: Site) -> dict[str, Any]:
    """Of the other tenant, read; its item."""

    async def pieces() -> AsyncIterator[bytes]:
        yield TEXT

    asset = await assets.receive(site.app, "south", f"{MARK}.txt", pieces(), kinds=None, created_by=None)
    asked = {"kind": "upload", "items": [{"asset_id": asset.id, "source": f"{MARK}.txt"}]}
    run = ok(await site.bob.post("/api/documents/runs", json=asked), 202)
    async with working(site.app, "documents"):
        await ended(site.app, run["job_id"])
    [item] = ok(await site.bob.get(f"/api/documents/runs/{run['id']}/items"))["items"]
    return item


async def an_unplaced_edit(site: Site, recording_id: str) -> str:
    edit_id = "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60"
    words = {"heard": MARK, "edited": MARK, "speaker": None, "edited_by": "bob"}
    await site.app.services.store.run(
        lambda tx: tx.execute("unplaced_edit_add", id=edit_id, recording_id=recording_id, begins=0.0, ends=1.0, **words)
    )
    return edit_id


@asynccontextmanager
async def browser_of(site: Site, name: str) -> AsyncIterator[httpx.AsyncClient]:
    """With a session, which may do what no token may."""
    account = await accounts.find_by_name(site.app.services.store, name)
    secret, _ = await links.make(site.app.services.store, account.id, "login")
    async with client(site.api) as browser:
        browser.headers["Origin"] = "http://testserver"
        ok(await browser.post("/api/session/link", json={"token": secret}))
        yield browser


@cache
def operations() -> list[tuple[str, str, str]]:
    return [
        (operation["operationId"], method.upper(), path)
        for path, methods in openapi.document()["paths"].items()
        for method, operation in methods.items()
    ]


def test_every_operation_of_the_api_has_a_case():
    assert {name for name, _, _ in operations()} == CASES.keys() | NOT_ABOUT_TENANTS


async def test_nobody_reaches_into_another_tenant(site: Site, south: South):
    before = await _state_of(site, south)
    async with browser_of(site, "ann") as ann:
        await _try_everything(ann, south)
    assert await _state_of(site, south) == before


async def _try_everything(ann: httpx.AsyncClient, south: South) -> None:
    for name, method, template in operations():
        for case in CASES.get(name, []):
            path = template.format(**south.ids) if "{" in template else template
            query, body = south.fill(case.query), south.fill(case.body)
            async with ann.stream(method, path, params=query, json=body) as response:
                text = (await response.aread()).decode()
            problem = f"{name} {path} {query} {body}: {response.status_code} {text[:500]}"
            _judge(case, response.status_code, text, problem)
            assert south.shown_in(text, f"{path} {query} {body}") == [], problem


def _judge(case: Case, status: int, text: str, problem: str) -> None:
    match case.kind:
        case "hidden":
            assert status == 404, problem
        case "admins" | "refused":
            assert status == 403, problem
        case "unfit":
            assert status in (403, 422), problem
        case "clean":
            assert status in (200, 202), problem
        case "empty":
            assert status == 200, problem
            assert '"done":0' in text or '"requeued":0' in text, problem


async def _state_of(site: Site, south: South) -> list[Any]:
    """Everything of the other tenant that somebody could have changed."""
    jobs = [await site.app.get(job_id) for job_id in south.jobs]
    tokens = [token["id"] for token in ok(await site.bob.get("/api/tokens"))["items"]]
    webhooks = ok(await site.bob.get("/api/webhooks"))["items"]
    recordings = [ok(await site.bob.get(f"/api/recordings/{south.ids['recording_id']}{more}")) for more in ("", "/shares")]
    recordings.append(ok(await site.bob.get("/api/recordings/templates")))
    recordings.append(ok(await site.bob.get(f"/api/batches/{south.ids['batch_id']}")))
    recordings.append(ok(await site.bob.get(f"/api/documents/runs/{south.ids['run_id']}")))
    recordings.append(ok(await site.bob.get(f"/api/documents/{south.ids['document_id']}")))
    files = [ok(await site.bob.get(f"/api/uploads/{south.ids['upload_id']}")), ok(await site.bob.get("/api/assets/usage"))]
    return [*jobs, tokens, webhooks, recordings, files, len(await site.app.list(tenant="south", limit=1000))]


async def test_an_admin_sees_what_was_hidden(site: Site, south: South):
    """Or else the test above would pass with routes that find nothing at all."""
    for name, method, template in operations():
        seen = ("get_job", "list_job_children", "list_job_events", "download_job_payload", "get_recording", "list_shares")
        seen += ("get_asset", "get_asset_content", "get_upload")
        if method == "GET" and name in seen:
            assert (await site.root.get(template.format(**south.ids))).status_code == 200, name
    assert MARK in (await site.root.get("/api/inbox")).text
    assert MARK in (await site.root.get("/api/jobs", params={"text": MARK})).text
    assert MARK in (await site.bob.get("/api/jobs")).text
    assert MARK in (await site.root.get("/api/recordings")).text
    assert MARK in (await site.root.get("/api/batches")).text
    assert MARK in (await site.root.get("/api/documents")).text
    known = {"items": [{"source": f"{MARK}.txt", "sha256": SHA256_OF_TEXT}]}
    assert MARK in (await site.bob.post("/api/documents/known", json=known)).text
    assert MARK in (await site.root.get("/api/documents/runs")).text
    assert MARK in (await site.root.get(f"/api/documents/{south.ids['document_id']}/pages/1")).text


async def test_the_stream_carries_only_ones_own_jobs(site: Site, south: South):
    own = await site.make("greet", {"name": "n"})
    async with asyncio.timeout(30):
        text = ""
        async for piece in _stream(site, own.id):
            text += piece
            if own.id in text:
                break
    assert south.shown_in(text, "") == []


async def _stream(site: Site, own: str) -> AsyncIterator[str]:
    """Reads the stream as its ASGI messages: the transport of the other tests waits for an answer's end."""
    queue: asyncio.Queue[bytes] = asyncio.Queue()
    scope = {
        "type": "http", "method": "GET", "path": "/api/events", "raw_path": b"/api/events", "query_string": b"",
        "headers": [(b"host", b"testserver"), (b"authorization", f"Bearer {site.secrets['ann']}".encode())],
        "http_version": "1.1", "scheme": "http", "client": ("127.0.0.1", 1), "server": ("testserver", 80), "root_path": "",
    }  # fmt: skip
    gone = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        await queue.put(message.get("body", b""))

    task = asyncio.create_task(site.api(scope, receive, send))
    try:
        await queue.get()  # the head: from here on nothing is missed
        await site.app.enqueue("greet", {"name": MARK}, tenant="south")
        await site.app.cancel(own)
        while True:
            yield (await queue.get()).decode()
    finally:
        gone.set()
        await task
