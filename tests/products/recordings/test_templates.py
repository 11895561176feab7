"""Summary templates: those that come along, those that people write, and how a chat service follows them."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.models.wire_server import Answer, Asked, WireServer
from tests.products.recordings.ear import Ear
from tests.products.recordings.studio import QUIET, Studio, opened_studio
from tests.server.api.site import ok, problem
from towpath import App, Settings
from towpath.recordings.templates import ACTION_ITEMS, MINUTES
from towpath.testing import drain

ADDRESS = "/api/recordings/templates"


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        server.always = _answering
        yield server


@pytest.fixture
async def chatting(database_url: str, settings: Settings, wire: WireServer) -> AsyncIterator[Studio]:
    there = replace(settings, chat_url=wire.url, chat_model="m", chat_chunk_characters=200)
    async with opened_studio(App(database_url, settings=there)) as studio:
        yield studio


def _answering(asked: Asked) -> Answer:
    return Answer({"model": "m", "choices": [{"message": {"content": "Done."}, "finish_reason": "stop"}]})


def questions(wire: WireServer) -> list[str]:
    return [str(one.json()["messages"][1]["content"]) for one in wire.asked]


async def test_people_write_change_and_delete_templates_of_their_own(chatting: Studio):
    ann, bob = chatting.ann, chatting.bob
    listed = ok(await ann.get(ADDRESS))
    assert [one["id"] for one in listed["items"]] == [MINUTES.id, ACTION_ITEMS.id]
    assert listed["followed"]
    made = ok(await ann.post(ADDRESS, json={"name": "Sales  call", "prompt": "What do they need? {count}"}), 201)
    assert (made["name"], made["own"]) == ("Sales call", True)
    for name in ("sales CALL", "minutes"):
        problem(await ann.post(ADDRESS, json={"name": name, "prompt": "x"}), 409, "conflict")
    changed = ok(await ann.put(f"{ADDRESS}/{made['id']}", json={"name": "Sales call", "prompt": "What do they want?"}))
    assert changed == made | {"prompt": "What do they want?"}
    assert [one["id"] for one in ok(await bob.get(ADDRESS))["items"]] == [MINUTES.id, ACTION_ITEMS.id]
    for method in (bob.put, bob.delete):
        body = {"json": {"name": "x", "prompt": "x"}} if method == bob.put else {}
        problem(await method(f"{ADDRESS}/{made['id']}", **body), 404, "not_found")
    problem(await ann.delete(f"{ADDRESS}/{MINUTES.id}"), 404, "not_found")  # it is in code
    assert (await ann.delete(f"{ADDRESS}/{made['id']}")).status_code == 204
    problem(await ann.delete(f"{ADDRESS}/{made['id']}"), 404, "not_found")


async def test_a_template_is_chosen_at_the_upload_and_when_summarised_again(chatting: Studio, wire: WireServer, ear: Ear):
    ear.hears = [(0.0, 0.4, "I bring the rope."), (0.4, 0.6, "By Friday."), (0.6, 0.9, "Good.")]
    sent = await chatting.upload(auto_summary="true", template=ACTION_ITEMS.id)
    await drain(chatting.app)
    done = await chatting.get(sent["id"])
    assert done["template"] == ACTION_ITEMS.id
    assert (done["summary"]["template"], done["summary"]["text"]) == ("Action items", "Done.")
    [asked] = questions(wire)
    assert ACTION_ITEMS.prompt in asked
    assert asked.endswith("I bring the rope. By Friday. Good.")

    own = ok(await chatting.ann.post(ADDRESS, json={"name": "Haiku", "prompt": "Make a {number} haiku of it."}), 201)
    for number, who in enumerate(("Sam", "Sam", "Ada")):
        named = await chatting.ann.patch(f"/api/recordings/{sent['id']}/transcript/{number}", json={"speaker": who})
        assert named.status_code == 200, named.text
    again = {"what": "summary", "template": own["id"]}
    ok(await chatting.ann.post(f"/api/recordings/{sent['id']}/reprocess", json=again), 202)
    await drain(chatting.app)
    done = await chatting.get(sent["id"])
    assert (done["template"], done["summary"]["template"]) == (own["id"], "Haiku")
    assert "Make a {number} haiku of it." in questions(wire)[-1]
    assert questions(wire)[-1].endswith("Sam: I bring the rope. By Friday.\nAda: Good.")

    assert (await chatting.ann.delete(f"{ADDRESS}/{own['id']}")).status_code == 204
    left = await chatting.get(sent["id"])
    assert (left["template"], left["summary"]["template"]) == (None, "Haiku")  # what was made stays
    ok(await chatting.ann.post(f"/api/recordings/{sent['id']}/reprocess", json={"what": "summary"}), 202)
    await drain(chatting.app)
    assert (await chatting.get(sent["id"]))["summary"]["template"] is None


async def test_a_long_transcript_is_noted_in_parts_for_the_template(chatting: Studio, wire: WireServer, ear: Ear):
    ear.hears = [(n / 100, (n + 1) / 100, f"In chapter {n} the miller meets a friend of the family.") for n in range(24)]
    own = ok(await chatting.ann.post(ADDRESS, json={"name": "Plot", "prompt": "Tell the {plot} of it."}), 201)
    sent = await chatting.upload(auto_summary="true", template=own["id"])
    await drain(chatting.app)
    assert (await chatting.get(sent["id"]))["status"] == "COMPLETED"
    asked = questions(wire)
    assert len(asked) > 6
    assert all("Tell the {plot} of it." in one for one in asked)
    assert "part 2 of" in asked[1]


@pytest.mark.parametrize("wrong", ["no-such", "0199aaaa-0000-7000-8000-000000000000"])
async def test_a_template_that_is_not_there_is_refused_before_anything_is_kept(chatting: Studio, wrong: str):
    refused: dict[str, Any] = problem(await chatting.send(QUIET, template=wrong), 422, "invalid")
    assert "minutes (Minutes)" in str(refused)


async def test_without_a_chat_service_templates_are_refused_with_what_to_do(studio: Studio, ear: Ear):
    assert not ok(await studio.ann.get(ADDRESS))["followed"]
    ear.hears = [(0.0, 0.9, "Hello there.")]
    done = await studio.finished(auto_summary="true")
    asked = {"what": "summary", "template": MINUTES.id}
    refused = problem(await studio.ann.post(f"/api/recordings/{done['id']}/reprocess", json=asked), 422, "invalid")
    assert "TOWPATH_CHAT_URL" in str(refused)
