"""Lists of requests and inputs that are stored under an id, and named by as many batches as want them."""

from tests.engine.working import on_sqlite
from tests.products.batches.desk import Desk, request
from tests.server.api.site import ok, problem

DATASETS = "/api/datasets"


async def made(desk: Desk, **asked):
    return ok(await desk.ann.post(DATASETS, json=asked), 201)


async def ids(desk: Desk) -> list[str]:
    return [one["id"] for one in ok(await desk.ann.get(DATASETS))["items"]]


async def test_a_list_is_stored_once_and_asked_by_many_batches(desk: Desk):
    list_of = await made(desk, name="Questions of the year", requests=[request("a"), request("b")])
    assert (list_of["name"], list_of["batch_id"], list_of["source"]) == ("Questions of the year", None, None)
    for _ in range(2):
        found = await desk.finished(None, dataset_ids=[list_of["id"]])
        assert (found["status"], found["count"], found["dataset_ids"]) == ("COMPLETED", 2, [list_of["id"]])
    both = await made(desk, requests=[request("c")])
    found = await desk.finished(None, dataset_ids=[both["id"], list_of["id"]])
    assert [line["custom_id"] for line in await desk.results(found["id"])] == ["c", "a", "b"]
    assert await ids(desk) == [both["id"], list_of["id"]]
    page = ok(await desk.ann.get(DATASETS, params={"limit": 1}))
    assert page["next"] == both["id"]
    [second] = ok(await desk.ann.get(DATASETS, params={"limit": 1, "after": page["next"]}))["items"]
    assert second == ok(await desk.ann.get(f"{DATASETS}/{list_of['id']}"))


async def test_what_was_made_by_itself_stays_and_what_came_with_a_batch_goes_with_the_last_that_names_it(desk: Desk):
    own = await made(desk, requests=[request("a")])
    first = await desk.finished([request("b")])
    [came_along] = first["dataset_ids"]
    second = await desk.finished(None, dataset_ids=[own["id"], came_along])
    assert await ids(desk) == [came_along, own["id"]]
    for path in (own["id"], came_along):
        problem(await desk.ann.delete(f"{DATASETS}/{path}"), 409, "conflict")
    ok(await desk.ann.delete(f"/api/batches/{first['id']}"))
    assert await ids(desk) == [came_along, own["id"]], "the other names it still"
    ok(await desk.ann.delete(f"/api/batches/{second['id']}"))
    assert await ids(desk) == [own["id"]]
    assert [key for key in await desk.blobs() if key.startswith("datasets/")] == [f"datasets/{own['id']}/lines.jsonl"]
    assert ok(await desk.ann.delete(f"{DATASETS}/{own['id']}")) == {"deleted": 1}
    problem(await desk.ann.get(f"{DATASETS}/{own['id']}"), 404, "not_found")
    assert await desk.blobs() == []


@on_sqlite
async def test_a_dataset_that_does_not_fit_is_refused_and_nothing_of_it_stays(desk: Desk):
    for asked in ({}, {"requests": [request("a")], "inputs": ["https://93.184.216.34/a.wav"]}, {"requests": []}):
        problem(await desk.ann.post(DATASETS, json=asked), 422, "invalid")
    problem(await desk.ann.post(DATASETS, json={"input": "http://127.0.0.1/secret"}), 422, "invalid")
    problem(await desk.ann.post(DATASETS, json={"input": "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60"}), 404, "not_found")
    assert (await ids(desk), await desk.blobs()) == ([], [])
