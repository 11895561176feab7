"""A small app that commands are run against. It can be named to them: tests.cli.shop:app."""

from pydantic import BaseModel

from towpath import App, Context, Deferred, Fatal, Transient


class Order(BaseModel):
    article: str
    pieces: int = 1


async def add(ctx: Context, payload: dict):
    return payload["a"] + payload["b"]


async def order(ctx: Context, payload: Order):
    await ctx.progress(1, 2)
    return await ctx.step("weigh", lambda: {"grams": payload.pieces * 100})


async def break_down(ctx: Context, payload: dict):
    raise Fatal(f"part {payload.get('part', 17)} is broken", remedy="order a new part, then requeue")


async def flaky(ctx: Context, payload: dict):
    raise Transient("the line is busy")


async def several(ctx: Context, payload: dict):
    await ctx.spawn("add", [{"a": n, "b": 1} for n in range(payload["good"])])
    await ctx.spawn("break", [{} for _ in range(payload.get("bad", 0))])
    return Deferred({"asked": payload})


async def wait(ctx: Context, payload: dict):
    return await ctx.wait_for("go", timeout=payload.get("timeout"))


async def costly(ctx: Context, payload: dict):
    await ctx.spend(payload["cents"])


def make_app(url=None):
    app = App(url)
    app.operation("add", queue="sums")(add)
    app.operation("order", queue="orders")(order)
    app.operation("break", queue="orders")(break_down)
    app.operation("flaky", queue="orders", max_attempts=1)(flaky)
    app.operation("several", queue="orders")(several)
    app.operation("wait", queue="orders")(wait)
    app.operation("costly", queue="orders")(costly)
    return app


app = make_app("sqlite:///shop.db")
not_an_app = "shop"
