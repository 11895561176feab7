"""GET /metrics: what Prometheus reads, and who may."""

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.docs.pages import DOCS
from tests.docs.tables import bare, table_with
from tests.engine.working import on_sqlite, working
from tests.server.api.site import Site, problem
from towpath import App, Settings
from towpath.server import create_app, running

FROM_HERE = ("127.0.0.1", 50000)


def from_address(api, address=FROM_HERE, **headers) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(api, client=address), base_url="http://localhost", headers=headers
    )


async def scraped(client: httpx.AsyncClient) -> dict[str, dict[tuple, float]]:
    """Values by sample name and labels."""
    answer = await client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=")
    found: dict[str, dict[tuple, float]] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def of(**labels: str) -> tuple:
    return tuple(sorted(labels.items()))


async def test_jobs_are_counted_by_queue_operation_and_ending(site: Site):
    for _ in range(3):
        await site.done("greet", {"name": "n"})
    await site.done("break", "vase")
    await site.make("secret")
    found = await scraped(site.root)
    assert found["towpath_jobs_created_total"][of(queue="front", operation="greet")] == 3
    assert found["towpath_jobs_started_total"][of(queue="front", operation="greet")] == 3
    ended = found["towpath_jobs_ended_total"]
    assert ended[of(queue="front", operation="greet", state="succeeded")] == 3
    assert ended[of(queue="front", operation="greet", state="failed")] == 0
    assert ended[of(queue="back", operation="break", state="failed")] == 1
    assert found["towpath_queue_jobs"][of(queue="front", state="queued")] == 1
    assert found["towpath_queue_jobs"][of(queue="back", state="running")] == 0
    assert found["towpath_database_up"][()] == 1


async def test_latencies_are_histograms(site: Site):
    for _ in range(3):
        await site.done("greet", {"name": "n"})
    found = await scraped(site.root)
    which = {"queue": "front", "operation": "greet"}
    for name in ("towpath_job_wait_seconds", "towpath_job_run_seconds"):
        assert found[f"{name}_count"][of(**which)] == 3
        assert found[f"{name}_sum"][of(**which)] > 0
        buckets = [value for labels, value in found[f"{name}_bucket"].items() if set(of(**which)) < set(labels)]
        assert buckets == sorted(buckets)
        assert buckets[-1] == 3
        assert found[f"{name}_bucket"][of(**which, le="+Inf")] == 3
        assert found[f"{name}_bucket"][of(**which, le="16777.2")] == 3


async def test_workers_budgets_and_pauses_are_told(site: Site):
    await site.app.services.budgets.block("openai", 60, "slow down")
    await site.app.queues.pause("front")
    async with working(site.app, "back", concurrency=3):
        await site.held()
        found = await scraped(site.root)
    assert found["towpath_workers"][()] == 1
    assert found["towpath_worker_slots"][()] == 3
    assert 55 < found["towpath_budget_blocked_seconds"][of(budget="openai")] <= 60
    assert found["towpath_queue_paused"][of(queue="front")] == 1


@on_sqlite
async def test_requests_are_counted_by_the_template_of_their_route(site: Site):
    job = await site.make("secret")
    for _ in range(2):
        await site.ann.get(f"/api/jobs/{job.id}")
    await site.ann.get("/api/jobs/01890000-0000-7000-8000-000000000000")
    await site.ann.get("/api/nothing/here")
    found = await scraped(site.root)
    counted = found["towpath_http_requests_total"]
    assert counted[of(method="GET", route="/api/jobs/{id}", status="200")] == 2
    assert counted[of(method="GET", route="/api/jobs/{id}", status="404")] == 1
    assert not any(job.id in str(labels) or "nothing" in str(labels) for labels in counted)
    assert found["towpath_http_request_seconds_count"][of(method="GET", route="/api/jobs/{id}")] == 3
    assert found["towpath_streams"][()] == 0
    assert found["process_resident_memory_bytes"][()] > 0


@on_sqlite
async def test_only_administrators_may_scrape_from_elsewhere(site: Site):
    async with from_address(site.api, ("10.0.0.7", 1)) as elsewhere:
        problem(await elsewhere.get("/metrics"), 401, "unauthenticated")
    problem(await site.ann.get("/metrics"), 403, "forbidden")


@on_sqlite
async def test_from_this_machine_no_token_is_needed(site: Site):
    async with from_address(site.api) as here:
        assert (await scraped(here))["towpath_database_up"][()] == 1


@on_sqlite
@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
async def test_what_came_through_a_proxy_is_not_from_this_machine(site: Site, header: str):
    async with from_address(site.api, **{header: "127.0.0.1"}) as here:
        problem(await here.get("/metrics"), 401, "unauthenticated")


@on_sqlite
async def test_a_name_that_others_use_is_not_asked_for_from_this_machine(site: Site):
    """A proxy on the same machine that adds no header of its own still passes on the name that people asked for."""
    async with from_address(site.api, Host="jobs.example.com") as here:
        problem(await here.get("/metrics"), 401, "unauthenticated")


@on_sqlite
async def test_a_bad_token_from_this_machine_is_still_a_bad_token(site: Site):
    async with from_address(site.api, Authorization="Bearer tow_nonsense") as here:
        problem(await here.get("/metrics"), 401, "unauthenticated")


async def test_a_server_behind_a_proxy_believes_nobody_on_its_machine(sqlite_url: str, tmp_path):
    settings = Settings(blobs_url=(tmp_path / "b").as_uri(), trusted_proxies="10.0.0.0/8")
    api = create_app(App(sqlite_url, settings=settings))
    async with running(api), from_address(api) as here:
        problem(await here.get("/metrics"), 401, "unauthenticated")


@on_sqlite
async def test_the_documentation_lists_every_metric(site: Site):
    await site.done("greet", {"name": "n"})
    await site.app.services.budgets.block("openai", 60, "slow down")
    await site.app.queues.pause("front")
    text = (await site.root.get("/metrics")).text
    told = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in text_string_to_metric_families(text)
        if family.name.startswith("towpath_")
    }
    assert {bare(row["metric"]) for row in table_with(DOCS / "how-to/observe.md", "metric", "what it tells")} == told


async def test_counts_survive_a_restart_of_the_server(site: Site):
    await site.done("greet", {"name": "n"})
    await site.app.close()
    await site.app.open()
    found = await scraped(site.root)
    assert found["towpath_jobs_created_total"][of(queue="front", operation="greet")] == 1
