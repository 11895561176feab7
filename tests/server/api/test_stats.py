"""GET /api/stats and the price list behind its costs."""

import pytest

from tests.engine.working import ended, on_sqlite, working
from tests.server.api.site import Site, ok, problem

COUNTS = ("created", "started", "succeeded", "partial", "failed", "cancelled", "retried")


@pytest.fixture(autouse=True)
def thinking(app):
    @app.operation("think", queue="front")
    async def think(ctx, model):
        await ctx.meter(model=model, tokens_in=1_000_000, tokens_out=500_000)


async def lived(site: Site, *asked: tuple[str, object], tenant: str = "north") -> None:
    jobs = [await site.make(operation, payload, tenant=tenant) for operation, payload in asked]
    async with working(site.app):
        for job in jobs:
            await ended(site.app, job)


def counts(flows) -> dict[str, int]:
    return {name: flows[name] for name in COUNTS if flows[name]}


async def test_an_administrator_sees_all_tenants_and_anybody_else_their_own(site: Site):
    await lived(site, ("greet", {"name": "n"}), ("break", "vase"))
    await lived(site, ("greet", {"name": "n"}), tenant="south")
    everything = ok(await site.root.get("/api/stats"))
    assert counts(everything["totals"]) == {"created": 3, "started": 3, "succeeded": 2, "failed": 1}
    assert everything["totals"]["failure_rate"] == pytest.approx(1 / 3)
    assert [line["operation"] for line in everything["operations"]] == ["break", "greet"]
    north = ok(await site.ann.get("/api/stats"))
    assert counts(north["totals"]) == {"created": 2, "started": 2, "succeeded": 1, "failed": 1}
    assert ok(await site.root.get("/api/stats?tenant=north"))["totals"] == north["totals"]
    assert counts(ok(await site.bob.get("/api/stats?tenant=south"))["totals"])["succeeded"] == 1
    problem(await site.bob.get("/api/stats?tenant=north"), 403, "forbidden")


async def test_each_window_has_its_series(site: Site):
    await lived(site, ("greet", {"name": "n"}))
    for window, points, seconds in (("1h", 60, 60), ("24h", 96, 900), ("7d", 168, 3600)):
        for person in (site.ann, site.root):
            found = ok(await person.get(f"/api/stats?window={window}"))
            assert (found["window"], len(found["series"]), found["bucket_seconds"]) == (window, points, seconds)
            assert sum(point["succeeded"] for point in found["series"]) == 1
            [point] = [point for point in found["series"] if point["succeeded"]]
            assert point["run_p50_ms"] > 0
            assert point["at"].endswith(":00.000Z")
            assert found["sampled"] is False
            empty = found["series"][0]
            assert found["totals"] == ok(await person.get(f"/api/stats?window={window.upper()}"))["totals"]
            assert (empty["wait_p50_ms"], empty["run_p99_ms"], empty["cost_cents"], empty["unpriced"]) == (
                None, None, None, False,
            )  # fmt: skip


async def test_filters_narrow_it(site: Site):
    await lived(site, ("greet", {"name": "n"}), ("break", "vase"))
    for person in (site.ann, site.root):
        assert counts(ok(await person.get("/api/stats?operation=break"))["totals"])["failed"] == 1
        assert "failed" not in counts(ok(await person.get("/api/stats?queue=front"))["totals"])


@on_sqlite
@pytest.mark.parametrize("query", ["window=2h", "windw=1h", "operation=", "queue=%00", "tenant="])
async def test_what_does_not_fit_is_refused(site: Site, query: str):
    problem(await site.ann.get(f"/api/stats?{query}"), 422, "invalid")


async def test_without_a_price_a_cost_is_unknown_and_with_one_it_is_known(site: Site):
    await lived(site, ("think", "large"))
    await lived(site, ("think", "large"), tenant="south")
    found = ok(await site.ann.get("/api/stats?window=1h"))
    assert (found["totals"]["cost_cents"], found["totals"]["unpriced"]) == (None, True)
    assert found["cost"] == [
        {"tenant": "north", "model": "large", "tokens_in": 1_000_000, "tokens_out": 500_000, "cost_cents": None,
         "unpriced": True}
    ]  # fmt: skip
    prices = {"large": {"input_per_million_cents": 100.0, "output_per_million_cents": 200.0}}
    assert ok(await site.root.put("/api/settings/prices", json=prices)) == prices
    assert ok(await site.root.get("/api/settings/prices")) == prices
    for window in ("24h", "7d"):
        found = ok(await site.ann.get(f"/api/stats?window={window}"))
        assert (found["totals"]["cost_cents"], found["totals"]["unpriced"]) == (200.0, False)
        assert sum(point["cost_cents"] or 0.0 for point in found["series"]) == 200.0
        everything = ok(await site.root.get(f"/api/stats?window={window}"))
        assert everything["totals"]["cost_cents"] == 400.0
        assert {line["tenant"]: line["cost_cents"] for line in everything["cost"]} == {"north": 200.0, "south": 200.0}


@on_sqlite
async def test_prices_are_for_administrators(site: Site):
    problem(await site.ann.get("/api/settings/prices"), 403, "forbidden")
    problem(await site.ann.put("/api/settings/prices", json={}), 403, "forbidden")
    problem(await site.nobody.get("/api/settings/prices"), 401, "unauthenticated")


@on_sqlite
@pytest.mark.parametrize(
    "body",
    [
        {"m": {"input_per_million_cents": -1, "output_per_million_cents": 0}},
        {"m": {"input_per_million_cents": 1}},
        {"m": {"input_per_million_cents": 1, "output_per_million_cents": 1, "currency": "EUR"}},
        {"": {"input_per_million_cents": 1, "output_per_million_cents": 1}},
        {"a\x00b": {"input_per_million_cents": 1, "output_per_million_cents": 1}},
        {str(n): {"input_per_million_cents": 1, "output_per_million_cents": 1} for n in range(1001)},
        [],
    ],
)
async def test_a_price_list_that_does_not_fit_is_refused_and_the_old_one_stays(site: Site, body):
    problem(await site.root.put("/api/settings/prices", json=body), 422, "invalid")
    assert ok(await site.root.get("/api/settings/prices")) == {}


async def test_what_a_provider_said_when_it_blocked_a_budget_is_for_administrators(site: Site):
    await site.app.services.budgets.block("openai", 60, "organisation harbour exceeded its limit")
    assert ok(await site.root.get("/api/stats"))["budgets"][0]["reason"].startswith("organisation")
    [budget] = ok(await site.ann.get("/api/stats"))["budgets"]
    assert (budget["name"], budget["reason"]) == ("openai", None)
