"""The SQL views tell what the API tells."""

import pytest

from tests.engine.working import ended, working
from tests.server.api.site import Site, ok
from towpath.core.usage import Price
from towpath.engine.tending.occupancy import take_sample
from towpath.engine.tending.rollups import roll_up

COUNTS = ("created", "started", "succeeded", "partial", "failed", "cancelled", "retried", "ended")


@pytest.fixture(autouse=True)
def thinking(app):
    @app.operation("think", queue="front")
    async def think(ctx, model):
        await ctx.meter(model=model, tokens_in=1_000_000, tokens_out=500_000)
        await ctx.meter(model="priced", tokens_in=1, tokens_out=1, cost_cents=3.0)


@pytest.fixture
async def lived(site: Site) -> Site:
    asked = [("greet", {"name": "n"}), ("break", "vase"), ("break", "jug"), ("think", "known"), ("think", "unknown")]
    async with working(site.app, concurrency=3):
        for operation, payload in asked:
            await ended(site.app, await site.make(operation, payload))
        await site.app.services.store.run(take_sample)  # its janitor may have looked before its first heartbeat
    await site.app.prices.put({"known": Price(100.0, 200.0)})
    await site.make("hold")
    await site.app.queues.pause("back")
    await roll_up(site.app.services.store)
    return site


async def view(site: Site, name: str, columns: str = "*", rest: str = "") -> list[dict]:
    prefix = "towpath_" if site.app.services.store.dialect == "sqlite" else "towpath."
    async with site.app.transaction() as tx:
        return [dict(row) for row in await tx.fetch(f"SELECT {columns} FROM {prefix}{name} {rest}")]


async def test_throughput_and_failures_are_those_of_the_statistics(lived: Site):
    found = ok(await lived.root.get("/api/stats?window=24h"))
    sums = ", ".join(f"sum({name}) AS {name}" for name in COUNTS)
    [row] = await view(lived, "v_throughput", sums)
    assert {name: int(row[name]) for name in COUNTS} == {name: found["totals"][name] for name in COUNTS}
    rates = {row["operation"]: (row["failure_rate"], row["retry_rate"]) for row in await view(lived, "v_failures")}
    told = {line["operation"]: (line["failure_rate"], line["retry_rate"]) for line in found["operations"] if line["ended"]}
    assert {name: rates[name] for name in told} == told


async def test_percentiles_are_those_of_the_statistics(lived: Site):
    lines = ok(await lived.root.get("/api/stats?window=24h"))["operations"]
    rows = {(row["operation"], row["what"]): row for row in await view(lived, "v_latency")}
    for line in [line for line in lines if line["ended"]]:
        for what in ("wait", "run"):
            for share in ("p50", "p95", "p99"):
                told = rows[line["operation"], what][f"{share}_seconds"]
                assert told * 1000 == pytest.approx(line[f"{what}_{share}_ms"], abs=0.001)


async def test_costs_are_those_of_the_statistics(lived: Site):
    told = {line["model"]: line for line in ok(await lived.root.get("/api/stats?window=24h"))["cost"]}
    rows = {row["model"]: row for row in await view(lived, "v_usage")}
    assert rows.keys() == told.keys() == {"known", "unknown", "priced"}
    for model, row in rows.items():
        line = told[model]
        assert (row["tenant"], row["tokens_in"], row["tokens_out"]) == ("north", line["tokens_in"], line["tokens_out"])
        assert (row["cost_cents"], bool(row["unpriced"])) == (line["cost_cents"], line["unpriced"])
    assert (told["known"]["cost_cents"], told["unknown"]["cost_cents"], told["priced"]["cost_cents"]) == (200.0, None, 6.0)


async def test_queues_workers_and_causes_are_those_of_the_api(lived: Site):
    queues = {queue["name"]: queue for queue in ok(await lived.root.get("/api/queues"))}
    for row in await view(lived, "v_queues"):
        told = queues[row["queue"]]
        for name in ("queued", "running", "waiting", "max_slots"):
            assert row[name] == told[name]
        assert bool(row["paused"]) is told["paused"]
    [worker] = await view(lived, "v_workers")
    [told] = ok(await lived.root.get("/api/workers"))
    assert (worker["id"], worker["concurrency"], bool(worker["alive"])) == (told["id"], told["concurrency"], False)
    causes = {(row["operation"], row["cause"]): row["jobs"] for row in await view(lived, "v_causes")}
    groups = ok(await lived.root.get("/api/inbox"))["items"]
    assert causes == {(group["operation"], group["message"]): group["jobs"] for group in groups}
    averages = {(row["workers"], row["concurrency"]) for row in await view(lived, "v_efficiency")}
    assert averages == {(1.0, 3.0)}


async def test_jobs_are_the_jobs(lived: Site):
    jobs = {job["id"]: job for job in ok(await lived.root.get("/api/jobs?limit=200"))["items"]}
    rows = await view(lived, "v_jobs")
    assert {str(row["id"]) for row in rows} == jobs.keys()
    for row in rows:
        told = jobs[str(row["id"])]
        assert (row["state"], row["operation"], row["tenant"]) == (told["state"], told["operation"], told["tenant"])
        assert (row["run_seconds"] is None) == (told["finished_at"] is None)
        assert str(row["created_at"])[:19].replace(" ", "T") == told["created_at"][:19]
