"""What providers tell by themselves: asked for where it can be asked for, believed only if it is theirs."""

from dataclasses import replace

import pytest

from tests.engine.working import eventually, on_sqlite
from tests.products.batches.desk import opened_desk
from tests.products.batches.speech import SARVAM, WAVE, opened_speech
from tests.providers import azure, sarvam
from tests.server.api.site import ok, problem
from towpath import App, Settings
from towpath.providers.catalog import PROVIDERS
from towpath.providers.simulator import Fault


@on_sqlite
async def test_who_can_call_is_told_where_to_and_believed_by_its_token_only(database_url: str, settings: Settings):
    reachable = replace(settings, base_url="https://here.example/", poll_interval_seconds=60.0)
    path, header = "/api/providers/SARVAM/callback", "x-sarvam-job-callback-token"
    made = sarvam.simulator()
    made.arm(Fault.NEVER_ENDS)
    async with opened_speech(database_url, reachable, SARVAM, made) as desk:
        batch_id = await desk.transcribe([await desk.upload("talk.wav", WAVE)])
        async with desk.working():
            [job] = await eventually(lambda: _asked(made, 1), 60)
            await desk.until(batch_id, "IN_PROGRESS")
            assert job.request.callback.url == f"https://here.example{path}"
            told = {"job_id": job.id, "job_state": "Completed"}
            problem(await desk.nobody.post(path, json=told, headers={header: "forged"}), 401, "unauthenticated")
            signed = {header: job.request.callback.auth_token}
            assert ok(await desk.nobody.post(path, json=told, headers=signed)) == {"taken": True}
            assert (await desk.get(batch_id))["status"] == "IN_PROGRESS", "what it says of the job is not believed"
            ok(await desk.ann.post(f"/api/batches/{batch_id}/cancel"))


async def _asked(made, count):
    found = list(made.jobs.values())
    return found if len(found) == count else None


@on_sqlite
async def test_nobody_is_told_to_call_where_the_server_cannot_be_reached(database_url: str, settings: Settings):
    async with opened_speech(database_url, settings, SARVAM) as desk:
        await desk.transcribed([await desk.upload("talk.wav", WAVE)])
        assert [job.request.callback for job in desk.simulator.jobs.values()] == [None]


@on_sqlite
async def test_azures_webhook_comes_to_life_and_a_forged_notice_does_not(database_url: str, settings: Settings):
    wanted = replace(
        settings, azure_speech_endpoint="http://127.0.0.1:9", azure_speech_key="k", azure_webhook_secret=azure.WEBHOOK_SECRET
    )
    async with opened_desk(App(database_url, settings=wanted)) as desk:
        path, event = "/api/providers/AZURE/callback", "X-MicrosoftSpeechServices-Event"
        answer = await desk.nobody.post(f"{path}?validationToken=e062725f", headers={event: "Challenge"})
        assert (answer.status_code, answer.text) == (200, "e062725f")
        assert answer.headers["content-type"].startswith("text/plain")
        forged = {event: "TranscriptionCompletion", "X-MicrosoftSpeechServices-Signature": "Zm9yZ2Vk"}
        problem(await desk.nobody.post(path, json={"self": "https://x/3b7"}, headers=forged), 401, "unauthenticated")


@on_sqlite
@pytest.mark.parametrize("name", sorted(PROVIDERS))
async def test_a_provider_that_is_not_set_up_believes_nobody(
    database_url: str, settings: Settings, name: str, monkeypatch: pytest.MonkeyPatch
):
    """Not even whether it is set up can be told from the answer."""
    for variable in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_WEBHOOK_SECRET"):
        monkeypatch.delenv(variable, raising=False)
    signed = {
        "content-type": "application/json",
        "webhook-id": "1",
        "webhook-timestamp": "1",
        "webhook-signature": "v1,bm8=",
    }
    async with opened_desk(App(database_url, settings=settings)) as desk:
        for body in (b"", b"{}", b"\xff\x00", b"[" * 50_000):
            answer = await desk.nobody.post(f"/api/providers/{name}/callback", content=body, headers=signed)
            problem(answer, 401, "unauthenticated")
