"""Spend limits over HTTP: for administrators, and who waits for money goes on when they raise one."""

from tests.engine.working import ended, in_state, on_sqlite, working
from tests.server.api.site import Site, ok, problem
from towpath import Context


async def test_limits_are_set_listed_and_taken_away(site: Site):
    assert ok(await site.root.get("/api/limits")) == {"items": [], "next": None}
    made = ok(await site.root.put("/api/limits/north", json={"cents": 500}))
    assert made == {"tenant": "north", "cents": 500.0, "period": "month", "spent_cents": 0.0}
    ok(await site.root.put("/api/limits/a/b%20c", json={"cents": 0, "period": "ever"}))
    first = ok(await site.root.get("/api/limits", params={"limit": 1}))
    assert ([one["tenant"] for one in first["items"]], first["next"]) == (["a/b c"], "a/b c")
    rest = ok(await site.root.get("/api/limits", params={"limit": 1, "after": first["next"]}))
    assert (rest["items"], rest["next"]) == ([made], None)
    assert (await site.root.delete("/api/limits/a/b%20c")).status_code == 204
    problem(await site.root.delete("/api/limits/a/b%20c"), 404, "not_found")
    assert ok(await site.root.get("/api/limits"))["items"] == [made]


@on_sqlite
async def test_everybody_sees_the_limit_of_their_own_tenant_and_no_other(site: Site):
    ok(await site.root.put("/api/limits/south", json={"cents": 5}))
    assert ok(await site.ann.get("/api/limits")) == {"items": [], "next": None}
    made = ok(await site.root.put("/api/limits/north", json={"cents": 500}))
    assert ok(await site.ann.get("/api/limits")) == {"items": [made], "next": None}


async def test_work_that_waits_for_money_goes_on_when_a_limit_is_raised_or_taken_away(site: Site):
    @site.app.operation("pay")
    async def pay(ctx: Context) -> str:
        await ctx.spend(20)
        await ctx.spent(20)
        return "paid"

    for more in ({"cents": 30}, None):
        ok(await site.root.put("/api/limits/north", json={"cents": 5}))
        job = await site.app.enqueue("pay", tenant="north")
        async with working(site.app, "default"):
            assert (await in_state(site.app, job, "waiting")).reason == "budget"
            if more is None:
                assert (await site.root.delete("/api/limits/north")).status_code == 204
            else:
                ok(await site.root.put("/api/limits/north", json=more))
            assert (await ended(site.app, job)).result == "paid"
        if more is not None:
            [limit] = ok(await site.root.get("/api/limits"))["items"]
            assert (limit["cents"], limit["spent_cents"]) == (30.0, 20.0)


@on_sqlite
async def test_what_does_not_fit_is_refused_and_so_is_everybody_else(site: Site):
    for wrong in ({}, {"cents": -1}, {"cents": None}, {"cents": 1, "period": "week"}, {"cents": 1, "more": 2}, []):
        problem(await site.root.put("/api/limits/north", json=wrong), 422, "invalid")
    problem(await site.root.put(f"/api/limits/{'n' * 2000}", json={"cents": 1}), 422, "invalid")
    problem(await site.root.put("/api/limits/a%00b", json={"cents": 1}), 422, "invalid")
    problem(await site.root.get("/api/limits", params={"limit": 0}), 422, "invalid")
    assert ok(await site.root.get("/api/limits"))["items"] == []
    problem(await site.ann.put("/api/limits/north", json={"cents": 1e9}), 403, "forbidden")
    problem(await site.ann.delete("/api/limits/north"), 403, "forbidden")
    problem(await site.nobody.get("/api/limits"), 401, "unauthenticated")
