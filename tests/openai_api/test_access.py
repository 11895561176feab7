"""Who gets in, and what of others they see: nothing."""

import openai
import pytest
from fastapi.routing import APIRoute

from tests.openai_api.front import Front, asks
from tests.server.api.test_foreign_tenants import browser_of
from towpath.http.policy import TokenGuard, policy_of, routes_of
from towpath.identity.principal import READ

_FOREIGN = {
    "GET /v1/files/{file_id}", "GET /v1/files/{file_id}/content", "DELETE /v1/files/{file_id}", "GET /v1/batches/{batch_id}",
    "POST /v1/batches/{batch_id}/cancel",
}  # fmt: skip
_OTHERS = {
    "POST /v1/files", "GET /v1/files", "POST /v1/batches", "GET /v1/batches", "POST /v1/audio/transcriptions",
    "GET /v1/models", "GET /v1/models/{model:path}",
}  # fmt: skip


def routes_in(front: Front) -> dict[str, APIRoute]:
    found = [one for one in routes_of(front.site.api.routes) if isinstance(one, APIRoute) and one.path.startswith("/v1")]
    return {f"{method} {route.path}": route for route in found for method in route.methods}


async def test_every_route_is_for_tokens_with_the_right_scope(front: Front):
    found = routes_in(front)
    assert found.keys() == _FOREIGN | _OTHERS, "a new route needs a place in these tests"
    reader = front.program(await _secret(front, scopes=[READ]))
    for name, route in found.items():
        policy = policy_of(route)
        assert isinstance(policy, TokenGuard)
        assert policy.scope == ("read" if name.startswith("GET") else "write")
    with pytest.raises(openai.PermissionDeniedError) as denied:
        await front.upload([asks("a")], by=reader)
    assert denied.value.code == "insufficient_permissions"
    assert (await reader.files.list()).data == []
    await reader.close()


async def _secret(front: Front, **options) -> str:
    async with await front.site.person("ann", **options):
        return front.site.secrets["ann"]


async def test_a_wrong_key_no_key_and_a_browsers_cookie_are_refused_everywhere(front: Front):
    stranger = front.program("tow_wrong")
    with pytest.raises(openai.AuthenticationError) as refused:
        await stranger.batches.list()
    assert (refused.value.code, refused.value.type) == ("invalid_api_key", "invalid_request_error")
    await stranger.close()
    async with front.raw(None) as nobody, browser_of(front.site, "ann") as browser:
        for name in routes_in(front):
            method, path = name.split(" ")
            files = {"file": b"x"} if path in ("/v1/files", "/v1/audio/transcriptions") and method == "POST" else None
            for who in (nobody, browser):
                answer = await who.request(method, path.replace("{", "").replace("}", ""), files=files)
                assert answer.status_code == 401, (name, answer.text)
                assert answer.json()["error"].keys() == {"message", "type", "param", "code"}


async def test_what_is_another_tenants_is_as_if_it_were_not_there(front: Front):
    batch = await front.done([asks("a"), asks("bad")])
    ids = [batch.input_file_id, batch.output_file_id, batch.error_file_id]
    unknown = "0" * 32
    async with front.raw("bob") as bob, front.raw("ann") as ann:
        for name in sorted(_FOREIGN):
            method, path = name.split(" ")
            for one in ids if "file_id" in path else [batch.id]:
                foreign = await bob.request(method, path.format(file_id=one, batch_id=one))
                nowhere = one.replace(one[-32:], unknown)
                none = await bob.request(method, path.format(file_id=nowhere, batch_id=nowhere))
                assert foreign.status_code == none.status_code == 404, name
                assert foreign.text.replace(one, "ID") == none.text.replace(nowhere, "ID"), name
        for path, after in (("/v1/files", ids), ("/v1/batches", [batch.id])):
            for one in after:
                assert (await bob.get(path, params={"after": one})).json()["data"] == []
            assert (await bob.get(path)).json()["data"] == []
        assert (await ann.get(f"/v1/files/{ids[1]}")).status_code == 200, "nobody has deleted it"
    with pytest.raises(openai.NotFoundError):
        await front.bob.batches.create(
            input_file_id=batch.input_file_id, endpoint="/v1/chat/completions", completion_window="24h"
        )


async def test_recordings_and_batches_made_elsewhere_are_none_of_this_api(front: Front):
    made = (await front.site.ann.post("/api/batches/completion", json={"models": ["m"], "requests": [asks("a")]})).json()
    with pytest.raises(openai.NotFoundError):
        await front.ann.batches.retrieve(f"batch_{made['id'].replace('-', '')}")
    assert (await front.ann.batches.list()).data == []


async def test_what_is_done_is_in_the_audit_log(front: Front):
    made = await front.batch([asks("a")])
    await front.ann.batches.cancel(made.id)
    await front.ann.files.delete(made.input_file_id)
    log = (await front.site.root.get("/api/audit")).json()["items"]
    found = {one["action"] for one in log if one["account"] == "ann"}
    assert {"openai_file.create", "openai_batch.create", "openai_batch.cancel", "openai_file.delete"} <= found


async def test_forms_that_do_not_fit_leave_nothing(front: Front):
    async with front.raw() as ann:
        for form in (
            {"files": {"file": b"x"}}, {"files": {"file": b"x"}, "data": {"purpose": "strange"}},
            {"files": {"other": b"x"}, "data": {"purpose": "batch"}}, {"files": {"file": b""}, "data": {"purpose": "batch"}},
            {"files": {"file": b"x"}, "data": {"purpose": "batch", "more": "1"}}, {"json": {"purpose": "batch"}},
        ):  # fmt: skip
            answer = await ann.post("/v1/files", **form)
            assert answer.status_code == 400, answer.text
            assert answer.json()["error"]["message"]
        kind = {"Content-Type": "multipart/form-data; boundary=b"}
        for head in (b"X: " + b"y" * 100_000, b"".join(b"X%d: y\r\n" % n for n in range(1000))):
            body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n' + head + b"\r\n\r\nx\r\n--b--\r\n"
            assert (await ann.post("/v1/files", content=body, headers=kind)).status_code == 400
    assert [info async for info in front.app.blobs.list()] == []
    assert (await front.ann.files.list()).data == []


async def test_addresses_that_are_not_there_answer_like_an_api_and_not_like_a_page(front: Front):
    async with front.raw() as ann:
        for path, status in (("/v1/chat/completions", 404), ("/v1/nothing", 404)):
            answer = await ann.get(path)
            assert (answer.status_code, answer.json()["error"]["type"]) == (status, "invalid_request_error")
        assert (await ann.put("/v1/batches", json={})).status_code == 405
        large = await ann.post("/v1/batches", json={"metadata": {"k": "x" * 100_000}})
        assert (large.status_code, large.json()["error"]["code"]) == (413, "file_too_large")


async def test_models_are_those_of_the_settings(front: Front):
    found = [model.id async for model in front.ann.models.list()]
    assert found[0] == "m"
    for name in found:
        assert (await front.ann.models.retrieve(name)).id == name
    with pytest.raises(openai.NotFoundError) as missing:
        await front.ann.models.retrieve("nobody/knows")
    assert missing.value.code == "model_not_found"
