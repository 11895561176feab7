"""Jobs in every state a job can be in, for databases that are kept; and what must become of each.

A job is known by its key. Nothing here depends on when the database is read: by then every lease has run out, every timer
has rung, and waits have decades left. Only what every release understands belongs here.
"""

from pathlib import Path

from towpath import App, Context, Deferred, Partial, Retry, Settings, State
from towpath.store.contract import Claim, Store
from towpath.testing import drain

_DECADES = 50 * 365 * 86400.0

# key -> state in the kept database, and state after it was opened by a later release and drained
EXPECTED: dict[str, tuple[State, State]] = {
    "ready": (State.QUEUED, State.SUCCEEDED),
    "scheduled": (State.QUEUED, State.SUCCEEDED),
    "retry": (State.QUEUED, State.SUCCEEDED),
    "capped one": (State.QUEUED, State.SUCCEEDED),
    "capped two": (State.QUEUED, State.SUCCEEDED),
    "paused": (State.QUEUED, State.SUCCEEDED),
    "unknown": (State.QUEUED, State.SUCCEEDED),
    "crashed": (State.RUNNING, State.SUCCEEDED),
    "sleeping": (State.WAITING, State.SUCCEEDED),
    "asking": (State.WAITING, State.SUCCEEDED),
    "gathering": (State.WAITING, State.SUCCEEDED),
    "closing": (State.WAITING, State.SUCCEEDED),
    "succeeded": (State.SUCCEEDED, State.SUCCEEDED),
    "partial": (State.PARTIAL, State.PARTIAL),
    "failed": (State.FAILED, State.FAILED),
    "cancelled": (State.CANCELLED, State.CANCELLED),
}


def make_app(url: str, blobs: Path, *, knows_all: bool = True, fails: bool = False) -> App:
    """The app both sides run. While the database is made, nobody `knows_all` and the shaky operation `fails`."""
    app = App(url, settings=Settings(blobs_url=blobs.absolute().as_uri()))

    @app.operation("work", queue="work")
    async def work(ctx: Context, payload: dict):
        return await ctx.step("measure", lambda: {"said": payload.get("say"), "null": None, "text": "ä\u0000 …"})

    @app.operation("child", queue="children")
    async def child(ctx: Context, payload: int):
        return payload

    @app.operation("shaky", queue="work", retry=Retry(limit=3, base=1.0))
    async def shaky(ctx: Context):
        await ctx.meter(model="m", tokens_in=3, cost_cents=0.5)
        if fails:
            raise ConnectionError("away")

    @app.operation("broken", queue="work", max_attempts=1)
    async def broken(ctx: Context):
        raise ValueError("row 7 is torn")

    @app.operation("half", queue="work")
    async def half(ctx: Context):
        return Partial({"n": 1}, "one is missing")

    @app.operation("sleeper", queue="work")
    async def sleeper(ctx: Context):
        await ctx.step("before", lambda: 1)
        await ctx.sleep(2.0)
        return "awake"

    @app.operation("asker", queue="work", max_wait=_DECADES)
    async def asker(ctx: Context):
        return await ctx.wait_for("answer")

    @app.operation("gatherer", queue="work", max_wait=_DECADES)
    async def gatherer(ctx: Context):
        return await (await ctx.gather("child", [1, 2, 3])).results()

    @app.operation("closer", queue="work", max_wait=_DECADES)
    async def closer(ctx: Context):
        await ctx.spawn("child", [4, 5])
        return Deferred("fanned out")

    if knows_all:
        app.operation("stranger", queue="work")(work)
    app.schedule("nightly", "0 3 * * *", "work", {"say": "nightly"})
    return app


async def populate(app: App) -> None:
    """Brings about every state, with nothing but the engine's own verbs."""
    await app.queues.lane("capped", "default", max_slots=1, weight=2.0)
    for key in ("succeeded", "cancelled"):
        await app.enqueue("work", {"say": key}, key=key, tenant="alice", priority=2, cost=3.5)
    cancelled = next(job for job in await app.list() if job.key == "cancelled")
    await app.cancel(cancelled.id, "not needed")
    for key, operation in {"retry": "shaky", "failed": "broken", "partial": "half", "sleeping": "sleeper"}.items():
        await app.enqueue(operation, key=key)
    for key, operation in {"asking": "asker", "gathering": "gatherer", "closing": "closer"}.items():
        await app.enqueue(operation, key=key)
    await app.enqueue("stranger", {}, key="unknown", queue="work")
    await drain(app, ["work"])
    await app.enqueue("work", {"say": "crashed"}, key="crashed", queue="crash")
    await _claim_and_vanish(app.services.store, "crash")
    await app.enqueue("work", {"say": "paused"}, key="paused", queue="paused")
    await app.queues.pause("paused")
    for key in ("capped one", "capped two"):
        await app.enqueue("work", {"say": key}, key=key, queue="capped")
    await app.enqueue("work", {"say": "scheduled"}, key="scheduled", delay=2.0)
    await app.enqueue("work", {"say": "ready"}, key="ready")
    await app.services.budgets.block("api", 1.0, "429")


async def _claim_and_vanish(store: Store, queue: str) -> None:
    [job] = await store.claim(Claim(queue, 1, "a worker that is gone", 1.0))
    assert job.attempt == 1


QUEUES = ["work", "children", "crash", "paused", "capped"]


async def states(app: App) -> dict[str, State]:
    """Every job that has a key of ours, by key."""
    return {job.key: job.state for job in await app.list(limit=1000) if job.key in EXPECTED}
