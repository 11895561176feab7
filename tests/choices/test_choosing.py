"""What administrators set up and choose counts for everybody at once; what cannot be is told before anything is queued."""

from dataclasses import replace
from typing import Any

import pytest

from tests.models.wire_server import Answer, WireServer
from tests.products.recordings.studio import QUIET, Studio
from tests.server.api.site import ok, problem
from towpath import choices
from towpath.recordings.names import WINDOWS
from towpath.testing import drain

ADDRESS = "/api/models"
KEY = "sk-nobody-reads-this"


async def add(studio: Studio, wire: WireServer, kind: str = "speech", name: str = "box", **more: Any) -> dict[str, Any]:
    asked = {"name": name, "kind": kind, "url": wire.url, "model": "m", "key": KEY} | more
    return ok(await studio.root.post(f"{ADDRESS}/services", json=asked), 201)


async def choose(studio: Studio, kind: str, model: str | None) -> dict[str, Any]:
    return ok(await studio.root.put(f"{ADDRESS}/defaults/{kind}", json={"model": model}))


def named(listed: dict[str, Any], name: str, kind: str = "speech") -> dict[str, Any]:
    return next(one for one in listed["models"] if (one["name"], one["kind"]) == (name, kind))


async def test_a_service_is_set_up_changed_and_removed_and_its_key_never_comes_back(studio: Studio, wire: WireServer):
    made = await add(studio, wire, languages=["de", "en-GB"])
    assert (made["has_key"], made["languages"]) == (True, ["de", "en"])
    problem(await studio.root.post(f"{ADDRESS}/services", json={**_fields(made), "name": "box"}), 409, "conflict")
    changed = {**_fields(made), "model": "other"}
    del changed["name"], changed["kind"]
    assert ok(await studio.root.put(f"{ADDRESS}/services/box", json=changed))["has_key"]
    texts = [
        (await studio.root.get(address)).text
        for address in (ADDRESS, f"{ADDRESS}/services", "/api/audit", "/api/jobs", "/api/inbox")
    ]
    async with studio.app.transaction() as tx:
        [row] = await tx.fetch(f"SELECT * FROM {_table(studio)}")
    assert KEY not in "".join([*texts, str(row)])
    assert "models.service.create" in texts[2]
    assert (await studio.root.delete(f"{ADDRESS}/services/box")).status_code == 204
    problem(await studio.root.delete(f"{ADDRESS}/services/box"), 404, "not_found")
    assert ok(await studio.root.get(f"{ADDRESS}/services")) == []


def _fields(made: dict[str, Any]) -> dict[str, Any]:
    return {name: made[name] for name in ("name", "kind", "url", "model", "languages")}


def _table(studio: Studio) -> str:
    return "towpath_model_service" if studio.app.url.startswith("sqlite") else "towpath.model_service"


async def test_a_kept_key_goes_to_no_other_address(studio: Studio, wire: WireServer):
    await add(studio, wire)
    moved = {"url": "https://elsewhere.example.com/v1", "model": "m"}
    told = problem(await studio.root.put(f"{ADDRESS}/services/box", json=moved), 422, "invalid")
    assert "enter the key again" in told["remedy"]
    assert ok(await studio.root.put(f"{ADDRESS}/services/box", json={**moved, "key": ""}))["has_key"] is False


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "Box 1"), ("url", "localhost:8000"), ("url", "http://169.254.169.254/v1"), ("url", "http://metadata/v1"),
        ("url", "http://[::ffff:169.254.169.254]/v1"), ("url", "https://user:word@example.com/v1"),
        ("url", "https://example.com/v1?key=1"), ("key", "two words"), ("model", " "), ("kind", "paint"),
    ],
)  # fmt: skip
async def test_what_can_be_no_service_is_refused_with_the_field(studio: Studio, wire: WireServer, field: str, value: str):
    asked = {"name": "box", "kind": "speech", "url": wire.url, "model": "m"} | {field: value}
    told = problem(await studio.root.post(f"{ADDRESS}/services", json=asked), 422, "invalid")
    assert field in told["detail"] or any(field in one["path"] for one in told["errors"])


async def test_only_administrators_set_up_choose_try_pull_and_remove(studio: Studio, wire: WireServer):
    await add(studio, wire)
    body = {"name": "mine", "kind": "chat", "url": wire.url, "model": "m"}
    for answer in (
        await studio.ann.post(f"{ADDRESS}/services", json=body),
        await studio.ann.put(f"{ADDRESS}/services/box", json={"url": wire.url, "model": "m"}),
        await studio.ann.get(f"{ADDRESS}/services"),
        await studio.ann.delete(f"{ADDRESS}/services/box"),
        await studio.ann.put(f"{ADDRESS}/defaults/speech", json={"model": None}),
        await studio.ann.post(f"{ADDRESS}/test", json={"kind": "speech", "model": "service/box"}),
        await studio.ann.post(f"{ADDRESS}/pull", json={"model": "whisper/tiny"}),
        await studio.ann.delete(f"{ADDRESS}/pulled/whisper/tiny"),
    ):
        problem(answer, 403, "forbidden")
    assert wire.url not in (seen := await studio.ann.get(ADDRESS)).text
    assert named(ok(seen), "service/box")["hears"][:2] == ["en", "zh"]


async def test_a_chosen_service_hears_chats_and_answers_for_workers_that_have_only_the_database(
    studio: Studio, wire: WireServer
):
    """The worker of this test is an app of its own, as another process is; nothing is in its settings."""
    await add(studio, wire)
    await add(studio, wire, "chat", "talker")
    listed = await choose(studio, "speech", "service/box")
    assert (listed["speech"]["of"], listed["speech"]["detects"]) == ("chosen", True)
    assert "de" in listed["speech"]["hears"]
    assert (await choose(studio, "chat", "service/talker"))["chat"]["model"] == "service/talker"
    assert ok(await studio.ann.get("/api/recordings/templates"))["followed"]
    from tests.products.recordings.media import encoded, speech

    sent = await studio.upload(encoded(speech("clone-test"), "wav"), "talk.wav", auto_summary="true")
    await drain(studio.app)
    done = await studio.get(sent["id"])
    assert (done["transcript"]["engine"], done["transcript"]["language"]) == ("openai_compatible/m", "de")
    assert (done["model"], done["language"]) == (None, None)
    assert (done["summary"]["method"], done["summary"]["text"]) == ("chat", "Ready.")
    assert {one.headers["authorization"] for one in wire.asked} == {f"Bearer {KEY}"}
    speed = named(ok(await studio.ann.get(ADDRESS)), "service/box")
    assert speed["speed_measured"]
    assert speed["speed"] > 0


async def test_what_is_the_default_is_not_removed_and_nothing_is_chosen_that_is_not_there(studio: Studio, wire: WireServer):
    await add(studio, wire)
    for kind, model in (("speech", "service/no"), ("chat", "service/box"), ("speech", "moonshine/base-es"), ("chat", "x")):
        problem(
            await studio.root.put(f"{ADDRESS}/defaults/{kind}", json={"model": model}), 422, "invalid"
        )  # fmt: skip
    await choose(studio, "speech", "service/box")
    problem(await studio.root.delete(f"{ADDRESS}/services/box"), 409, "conflict")
    assert (await choose(studio, "speech", None))["speech"] == ok(await studio.ann.get(ADDRESS))["speech"]
    assert (await studio.root.delete(f"{ADDRESS}/services/box")).status_code == 204


async def test_a_choice_counts_before_the_environment_and_says_so(studio: Studio, wire: WireServer):
    studio.app.settings = replace(studio.app.settings, chat_url="http://127.0.0.1:9/v1", chat_model="env")
    before = ok(await studio.ann.get(ADDRESS))["chat"]
    assert (before["model"], before["of"], before["overrides"]) == ("environment", "environment", None)
    await add(studio, wire, "chat", "talker")
    chosen = (await choose(studio, "chat", "service/talker"))["chat"]
    assert (chosen["model"], chosen["of"], chosen["overrides"]) == ("service/talker", "chosen", "environment")
    assert (await choices.settings_of(studio.app)).chat_url == wire.url
    assert (await choose(studio, "chat", "none"))["chat"]["model"] is None
    assert not (await choices.settings_of(studio.app)).chat_url
    assert (await choose(studio, "chat", "environment"))["chat"] == before


async def test_one_recording_is_heard_by_the_model_that_was_chosen_for_it(studio: Studio, wire: WireServer):
    from tests.products.recordings.media import encoded, speech

    await add(studio, wire, languages=["de"])
    sent = await studio.upload(encoded(speech("clone-test"), "wav"), "talk.wav", model="service/box", language="de")
    await drain(studio.app)
    done = await studio.get(sent["id"])
    assert (done["model"], done["transcript"]["engine"]) == ("service/box", "openai_compatible/m")
    again = {"what": "transcription", "model": "moonshine/tiny-en", "language": None}
    ok(await studio.ann.post(f"/api/recordings/{sent['id']}/reprocess", json=again), 202)
    await drain(studio.app)
    done = await studio.get(sent["id"])
    assert (done["model"], done["transcript"]["engine"]) == ("moonshine/tiny-en", "moonshine/tiny-en")
    ok(await studio.ann.post(f"/api/recordings/{sent['id']}/reprocess", json={"what": "transcription"}), 202)
    await drain(studio.app)
    assert (await studio.get(sent["id"]))["transcript"]["engine"] == "moonshine/tiny-en"  # as it was


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"model": "whisper/small"}, "Whisper's library is not installed"),
        ({"model": "moonshine/base-es"}, "is not on this machine"),
        ({"model": "moonshine/tiny-en", "language": "de"}, "does not hear 'de'"),
        ({"model": "service/box", "language": "fr"}, "does not hear 'fr'"),
        ({"model": "service/none"}, "no speech service is called"),
        ({"model": "painter/big"}, "there is no model"),
    ],
)
async def test_a_model_that_cannot_hear_it_is_refused_before_anything_is_kept(
    studio: Studio, wire: WireServer, fields: dict[str, str], said: str
):
    await add(studio, wire, languages=["de"])
    told = problem(await studio.send(QUIET, **fields), 422, "invalid")
    assert said in told["detail"]
    assert told["remedy"]
    assert ok(await studio.ann.get("/api/recordings"))["items"] == []


async def test_what_was_queued_for_a_service_that_is_gone_fails_and_says_why(studio: Studio, wire: WireServer):
    await add(studio, wire)
    sent = await studio.upload(model="service/box")
    assert (await studio.root.delete(f"{ADDRESS}/services/box")).status_code == 204
    await drain(studio.app)
    done = await studio.get(sent["id"])
    assert done["status"] == "FAILED"
    assert "there is no such service any more" in done["error"]
    assert "another model" in done["job"]["error_remedy"]


async def test_a_recording_is_heard_by_one_model_whatever_is_chosen_meanwhile(studio: Studio, wire: WireServer):
    await add(studio, wire)
    await choose(studio, "speech", "service/box")
    job = (await studio.upload())["job_id"]
    await drain(studio.app)
    children = [one for one in await studio.app.list(operation=WINDOWS) if one.parent_id == job]
    assert children
    assert {(await studio.app.payload(one.id))["model"] for one in children} == {"service/box"}


async def test_trying_a_service_asks_it_and_tells_what_was_wrong_in_words(studio: Studio, wire: WireServer):
    await add(studio, wire)
    await add(studio, wire, "chat", "talker")

    async def tried(kind: str, model: str) -> dict[str, Any]:
        return ok(await studio.root.post(f"{ADDRESS}/test", json={"kind": kind, "model": model}))

    heard = await tried("speech", "service/box")
    assert (heard["ok"], heard["said"]) == (True, "Guten Morgen.")
    assert heard["seconds"] >= 0
    assert (await tried("chat", "service/talker"))["said"] == "Ready."
    assert [one.path for one in wire.asked] == ["/v1/audio/transcriptions", "/v1/chat/completions"]

    wire.always = lambda asked: Answer({"error": {"message": f"{asked.headers['authorization']} is no key"}}, 401)
    refused = await tried("chat", "service/talker")
    assert not refused["ok"]
    assert "answered 401" in refused["error"]
    assert KEY not in str(refused)
    assert "Settings → Models" in refused["remedy"]
    wire.always = lambda asked: Answer(b"<html>", 200)
    assert "no JSON" in (await tried("speech", "service/box"))["error"]
    assert "in the environment's settings" in (await tried("chat", "environment"))["error"]
    problem(await studio.root.post(f"{ADDRESS}/test", json={"kind": "chat", "model": "service/box"}), 422, "invalid")


async def test_a_key_that_cannot_be_read_any_more_fails_the_job_at_once_with_what_to_do(studio: Studio, wire: WireServer):
    await add(studio, wire)
    sent = await studio.upload(model="service/box")
    studio.app.settings = replace(studio.app.settings, secret_key="another secret than the key was kept with")
    await drain(studio.app)
    done = await studio.get(sent["id"])
    assert done["status"] == "FAILED"
    assert "the key of the service 'box' cannot be read" in done["error"]
    assert "enter the key again" in done["job"]["error_remedy"]
    assert wire.asked == []
