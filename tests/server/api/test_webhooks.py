"""Webhooks from end to end: a job ends, a real receiver hears of it, signed, once, or again until it answers well."""

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.engine.working import ended, eventually, history, in_state, on_sqlite, working
from tests.server.api.receiving import Receiver, receiving
from tests.server.api.site import Site, ok, opened_site, problem
from towpath import App, Settings
from towpath.engine.tending.janitor import promote_due
from towpath.outbound.addresses import is_public
from towpath.outbound.client import Outbound
from towpath.outbound.signatures import verify_signature
from towpath.server.webhooks import dispatching, resting, stored
from towpath.server.webhooks.delivering import REFUSED
from towpath.server.webhooks.messages import of_ending
from towpath.testing import drain

MISSING = "01890000-0000-7000-8000-000000000000"


@pytest.fixture(autouse=True)
def _promptly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatching, "_EVERY", 0.02)
    monkeypatch.setattr(dispatching, "_IDLE", 0.02)


@pytest.fixture
def app(database_url: str, tmp_path: Path) -> App:
    settings = Settings(
        blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.2, drain_seconds=0.2, pool_size=4, allow_private_urls=True
    )
    return App(database_url, settings=settings)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


async def hook(site: Site, url: str, **fields):
    return ok(await site.ann.post("/api/webhooks", json={"url": url, **fields}), 201)


async def deliveries(site: Site, webhook) -> list[dict]:
    return ok(await site.ann.get(f"/api/webhooks/{webhook['id']}/deliveries"))["items"]


async def delivered(site: Site, webhook, *states: str) -> list[dict]:
    """The deliveries, newest first, once they are in these states."""

    async def there():
        found = await deliveries(site, webhook)
        return found if [one["state"] for one in found] == list(states) else None

    return await eventually(there)


async def hurry(site: Site) -> None:
    """What is to be tried again later is due now, and no receiver is given a rest."""
    async with site.app.transaction() as tx:
        await tx.execute(f"DELETE FROM {'towpath_' if site.app.services.store.dialect == 'sqlite' else 'towpath.'}budget")
    await due(site)


async def due(site: Site) -> None:
    """What is to be tried again later is due now."""
    sqlite = site.app.services.store.dialect == "sqlite"
    table, past = ("towpath_job", "1.0") if sqlite else ("towpath.job", "'1970-01-02'")
    async with site.app.transaction() as tx:
        await tx.execute(f"UPDATE {table} SET run_at = {past} WHERE state = 'queued' AND run_at IS NOT NULL")
    await promote_due(site.app.services)


async def failing_since(site: Site, webhook):
    [found] = [one for one in ok(await site.ann.get("/api/webhooks"))["items"] if one["id"] == webhook["id"]]
    return found["failing_since"]


async def test_an_ending_is_sent_signed_and_says_what_happened(site: Site, receiver: Receiver):
    made = await hook(site, receiver.url)
    async with working(site.app):
        job = await ended(site.app, await site.make("break", "vase"))
        [delivery] = await delivered(site, made, "succeeded")
    [message] = receiver.messages
    assert verify_signature(made["secret"], message.headers, message.body) == message.content["id"]
    content = message.content
    assert content["type"] == "job.failed"
    assert (content["job"]["id"], content["job"]["state"], content["job"]["tenant"]) == (job.id, "failed", "north")
    assert content["job"]["error"]["message"] == "the vase is broken"
    assert content["created_at"] == content["job"]["finished_at"]
    assert message.headers["Content-Type"] == "application/json"
    assert (delivery["job_id"], delivery["event"], delivery["attempts"], delivery["response_status"]) == (
        job.id, "job.failed", 1, 200,
    )  # fmt: skip


async def test_only_what_is_asked_for_is_sent(site: Site, receiver: Receiver):
    made = await hook(site, receiver.url, states=["failed", "cancelled"], operations=["break", "hold"])
    async with working(site.app):
        for operation, payload in (("greet", {"name": "n"}), ("secret", None)):
            await ended(site.app, await site.make(operation, payload))
        await ended(site.app, await site.make("break", "vase", tenant="south"))
        held = await site.held()
        await site.app.cancel(held.id)
        broken = await ended(site.app, await site.make("break", "vase"))
        await delivered(site, made, "succeeded", "succeeded")
    assert sorted(receiver.types) == ["job.cancelled", "job.failed"]
    assert set(receiver.jobs) == {held.id, broken.id}


async def test_every_webhook_of_the_tenant_hears_of_it_and_deliveries_send_none_themselves(site: Site, receiver: Receiver):
    one, other = await hook(site, receiver.url), await hook(site, receiver.url)
    async with working(site.app):
        job = await ended(site.app, await site.make("secret"))
        for made in (one, other):
            await delivered(site, made, "succeeded")
        again = await ended(site.app, await site.make("secret"))
        for made in (one, other):
            await delivered(site, made, "succeeded", "succeeded")
    assert sorted(receiver.jobs) == sorted([job.id, job.id, again.id, again.id])


async def test_what_ended_before_or_while_it_was_not_active_is_not_sent(site: Site, receiver: Receiver):
    async with working(site.app):
        await ended(site.app, await site.make("secret"))
        made = await hook(site, receiver.url)
        path = f"/api/webhooks/{made['id']}"
        assert ok(await site.ann.patch(path, json={"active": False}))["active"] is False
        await ended(site.app, await site.make("secret"))
        assert ok(await site.ann.patch(path, json={"active": True}))["active"] is True
        wanted = await ended(site.app, await site.make("secret"))
        await delivered(site, made, "succeeded")
    assert receiver.jobs == [wanted.id]


async def test_a_receiver_that_is_down_is_tried_again_and_gets_the_same_message(site: Site, receiver: Receiver):
    made, receiver.answers = await hook(site, receiver.url), [503, 500, 200]
    async with working(site.app):
        await ended(site.app, await site.make("secret"))
        for number in (1, 2):
            await eventually(lambda number=number: len(receiver.messages) == number)
            [delivery] = await delivered(site, made, "queued")
            assert (delivery["response_status"], delivery["attempts"]) == (receiver_status(number), number)
            assert await failing_since(site, made) is not None
            await hurry(site)
        await delivered(site, made, "succeeded")
    assert await failing_since(site, made) is None
    assert len({message.body for message in receiver.messages}) == 1
    for message in receiver.messages:
        verify_signature(made["secret"], message.headers, message.body)


def receiver_status(number: int) -> int:
    return [503, 500][number - 1]


async def test_while_a_receiver_is_down_other_deliveries_to_it_wait_without_being_sent(site: Site, receiver: Receiver):
    made, receiver.answers = await hook(site, receiver.url), [503]
    async with working(site.app, "webhooks", concurrency=1):
        for _ in range(4):
            await drain_shop(site)
        first, *others = await eventually(lambda: looked_at(site, made, 4))
        assert (len(receiver.messages), first["attempts"], [one["attempts"] for one in others]) == (1, 1, [0, 0, 0])
        rows = [await site.app.get(one["id"]) for one in others]
        assert all(row.failures == 0 and row.run_at is not None for row in rows)
        receiver.answers = [200]
        await hurry(site)
        await delivered(site, made, *["succeeded"] * 4)
    assert [one["attempts"] for one in await deliveries(site, made)] == [1, 1, 1, 2]


async def drain_shop(site: Site) -> None:
    job = await site.make("secret")
    await drain(site.app, [job.queue])


async def looked_at(site: Site, webhook, count: int) -> list[dict] | None:
    """The deliveries, the one that was sent first, once all have been looked at."""
    found = await deliveries(site, webhook)
    rows = [await site.app.get(one["id"]) for one in found]
    if len(found) < count or any(row.run_at is None or row.attempt == 0 for row in rows):
        return None
    return sorted(found, key=lambda one: -one["attempts"])


async def test_a_receiver_that_stays_down_is_given_up_on_after_two_days(site: Site, receiver: Receiver, monkeypatch):
    made, receiver.answers = await hook(site, receiver.url), [(503, {"Retry-After": "60"})]
    monkeypatch.setattr(resting, "PATIENCE", timedelta(0))
    async with working(site.app):
        await ended(site.app, await site.make("secret"))
        await eventually(lambda: failing_since(site, made))
        await delivered(site, made, "queued")
        await site.app.services.budgets.block(resting.budget_of(made["id"]), 600, "it is down")
        await ended(site.app, await site.make("secret"))
        await eventually(lambda: looked_at(site, made, 2))
        await due(site)
        late, early = await delivered(site, made, "failed", "failed")
    assert (len(receiver.messages), early["attempts"], late["attempts"]) == (1, 1, 0)
    assert "127.0.0.1 has not answered well since" in late["error"]


async def test_a_replay_does_not_wait_for_a_receiver_that_was_down(site: Site, receiver: Receiver):
    made, receiver.answers = await hook(site, receiver.url), [404]
    async with working(site.app):
        await ended(site.app, await site.make("secret"))
        delivery = await refused_for_good(site, made, receiver)
        await site.app.services.budgets.block(resting.budget_of(made["id"]), 600, "it is down")
        receiver.answers = [200]
        ok(await site.ann.post(f"/api/webhooks/{made['id']}/deliveries/{delivery['id']}/replay"))
        await delivered(site, made, "succeeded")


async def test_nobody_there_is_tried_again_too(site: Site):
    with receiving() as gone:
        made = await hook(site, gone.url)
    async with working(site.app):
        await ended(site.app, await site.make("secret"))
        await eventually(lambda: failing_since(site, made))
        [delivery] = await delivered(site, made, "queued")
    assert delivery["response_status"] is None
    assert "could not be reached" in delivery["error"]


async def test_the_time_a_receiver_asks_for_is_kept(site: Site, receiver: Receiver):
    made, receiver.answers = await hook(site, receiver.url), [(429, {"Retry-After": "3600"}), 200]
    async with working(site.app):
        await ended(site.app, await site.make("secret"))
        await eventually(lambda: failing_since(site, made))
        [delivery] = await delivered(site, made, "queued")
        row = await site.app.get(delivery["id"])
        assert 3500 < (row.run_at - await site.app.now()).total_seconds() <= 3600
        await hurry(site)
        await delivered(site, made, "succeeded")


async def refused_for_good(site: Site, webhook, receiver: Receiver) -> dict:
    for number in (1, 2):
        await eventually(lambda number=number: len(receiver.messages) == number)
        await delivered(site, webhook, "queued")
        await hurry(site)
    [delivery] = await delivered(site, webhook, "failed")
    return delivery


async def test_a_receiver_that_refuses_is_given_up_after_three_attempts(site: Site, receiver: Receiver):
    made, receiver.answers = await hook(site, receiver.url), [404]
    async with working(site.app):
        await ended(site.app, await site.make("secret"))
        delivery = await refused_for_good(site, made, receiver)
    assert (delivery["attempts"], delivery["response_status"]) == (3, 404)
    assert delivery["error"] == "127.0.0.1 answered 404, after 3 attempts"


async def test_gone_deactivates_the_webhook(site: Site, receiver: Receiver):
    made, receiver.answers = await hook(site, receiver.url), [410]
    async with working(site.app):
        await ended(site.app, await site.make("secret"))
        await delivered(site, made, "failed")
        [found] = ok(await site.ann.get("/api/webhooks"))["items"]
        assert found["active"] is False
        await ended(site.app, await site.make("secret"))
    assert len(await deliveries(site, made)) == 1


async def test_a_redirect_is_not_followed(site: Site, receiver: Receiver):
    made, receiver.answers = await hook(site, receiver.url), [(302, {"Location": "http://127.0.0.1:1/"}), 200]
    async with working(site.app):
        await ended(site.app, await site.make("secret"))
        await eventually(lambda: failing_since(site, made))
    assert (await deliveries(site, made))[0]["response_status"] == 302


async def test_a_test_says_ping_also_to_a_webhook_that_is_not_active(site: Site, receiver: Receiver):
    made = await hook(site, receiver.url)
    await site.ann.patch(f"/api/webhooks/{made['id']}", json={"active": False})
    sent = ok(await site.ann.post(f"/api/webhooks/{made['id']}/test"), 201)
    assert (sent["event"], sent["job_id"], sent["state"]) == ("ping", None, "queued")
    async with working(site.app):
        await delivered(site, made, "succeeded")
    [message] = receiver.messages
    assert (message.content["type"], message.content["job"]) == ("ping", None)
    verify_signature(made["secret"], message.headers, message.body)


async def test_a_replay_sends_the_same_message_once_more(site: Site, receiver: Receiver):
    made, receiver.answers = await hook(site, receiver.url), [200, 410, 200]
    path = f"/api/webhooks/{made['id']}/deliveries"
    async with working(site.app):
        await ended(site.app, await site.make("secret"))
        [first] = await delivered(site, made, "succeeded")
        another = ok(await site.ann.post(f"{path}/{first['id']}/replay"))
        assert (another["id"] != first["id"], another["job_id"]) == (True, first["job_id"])
        await delivered(site, made, "failed", "succeeded")
        await site.ann.patch(f"/api/webhooks/{made['id']}", json={"active": True})
        assert ok(await site.ann.post(f"{path}/{another['id']}/replay"))["id"] == another["id"]
        await delivered(site, made, "succeeded", "succeeded")
    assert len({message.body for message in receiver.messages}) == 1
    problem(await site.ann.post(f"{path}/{MISSING}/replay"), 404, "not_found")


@on_sqlite
async def test_what_is_still_being_sent_cannot_be_replayed(site: Site, receiver: Receiver):
    made = await hook(site, receiver.url)
    sent = ok(await site.ann.post(f"/api/webhooks/{made['id']}/test"), 201)
    problem(await site.ann.post(f"/api/webhooks/{made['id']}/deliveries/{sent['id']}/replay"), 409, "conflict")


async def test_removing_a_webhook_cancels_what_was_not_delivered(site: Site, receiver: Receiver):
    made = await hook(site, receiver.url)
    sent = ok(await site.ann.post(f"/api/webhooks/{made['id']}/test"), 201)
    assert (await site.ann.delete(f"/api/webhooks/{made['id']}")).status_code == 204
    assert (await site.app.get(sent["id"])).state == "cancelled"
    problem(await site.ann.get(f"/api/webhooks/{made['id']}/deliveries"), 404, "not_found")
    assert ok(await site.ann.get("/api/webhooks"))["items"] == []


async def test_the_secret_is_shown_once_and_is_in_no_event_error_log_or_list(site: Site, receiver: Receiver, caplog):
    caplog.set_level(logging.DEBUG)
    made, receiver.answers = await hook(site, receiver.url), [410]
    assert made["secret"].startswith("whsec_")
    async with working(site.app):
        await ended(site.app, await site.make("secret"))
        [delivery] = await delivered(site, made, "failed")
    row = await site.app.get(delivery["id"])
    seen = [str(event) for event in await history(site.app, delivery["id"])]
    seen += [row.payload_json, str(row.error), str(delivery), (await site.ann.get("/api/webhooks")).text]
    seen += [(await site.root.get("/api/audit")).text, (await site.ann.get(f"/api/jobs/{row.id}")).text]
    own = [record.getMessage() for record in caplog.records if record.name.startswith("towpath")]
    for text in [*seen, *own]:
        assert made["secret"] not in text
    for text in [row.payload_json, str(row.error), *own]:
        assert "of-the-receiver" not in text


async def test_a_message_tells_of_its_ending_even_if_the_job_has_moved_on(site: Site, receiver: Receiver):
    made = await hook(site, receiver.url)
    async with working(site.app):
        job = await ended(site.app, await site.make("break", "vase"))
    [event] = [event for event in await history(site.app, job) if event.name == "job.failed"]
    requeued = await site.app.requeue(job.id)
    webhook = await stored.find(site.app.services.store, made["id"])
    told = of_ending(webhook, requeued, event)["message"]["job"]
    assert (told["state"], told["error"]["message"], told["seq"]) == ("failed", "the vase is broken", event.seq)
    assert told["finished_at"] is not None


@on_sqlite
async def test_a_delivery_reaches_no_webhook_of_another_tenant(site: Site, receiver: Receiver):
    made = await hook(site, receiver.url)
    payload = {"webhook_id": made["id"], "message": {"id": "evt_1", "type": "ping", "created_at": "2026-01-01T00:00:00Z"}}
    async with working(site.app):
        forged = await ended(site.app, await site.make("towpath.webhook", payload, tenant="south"))
    assert (forged.state, receiver.messages) == ("partial", [])


async def test_one_tenant_never_sees_anothers(site: Site, receiver: Receiver):
    made = await hook(site, receiver.url)
    sent = ok(await site.ann.post(f"/api/webhooks/{made['id']}/test"), 201)
    path = f"/api/webhooks/{made['id']}"
    assert ok(await site.bob.get("/api/webhooks"))["items"] == []
    for answer in [
        await site.bob.patch(path, json={"active": False}),
        await site.bob.delete(path),
        await site.bob.post(f"{path}/test"),
        await site.bob.get(f"{path}/deliveries"),
        await site.bob.post(f"{path}/deliveries/{sent['id']}/replay"),
        await site.ann.delete(f"/api/webhooks/{MISSING}"),
    ]:
        problem(answer, 404, "not_found")
    problem(await site.bob.get("/api/webhooks?tenant=north"), 403, "forbidden")
    problem(await site.bob.post("/api/webhooks", json={"url": receiver.url, "tenant": "north"}), 403, "forbidden")
    assert [one["id"] for one in ok(await site.root.get("/api/webhooks?tenant=north"))["items"]] == [made["id"]]
    theirs = ok(await site.root.post("/api/webhooks", json={"url": receiver.url, "tenant": "south"}), 201)
    assert [one["id"] for one in ok(await site.bob.get("/api/webhooks"))["items"]] == [theirs["id"]]


@on_sqlite
@pytest.mark.parametrize(
    "body",
    [
        {"url": "ftp://example.com/"},
        {"url": "https://user:word@example.com/"},
        {"url": "nonsense"},
        {"url": "http://127.0.0.1:9/", "states": []},
        {"url": "http://127.0.0.1:9/", "states": ["running"]},
        {"url": "http://127.0.0.1:9/", "operations": []},
        {"url": "http://127.0.0.1:9/", "secret": "mine"},
        {},
    ],
)
async def test_what_does_not_fit_is_refused(site: Site, body):
    problem(await site.ann.post("/api/webhooks", json=body), 422, "invalid")


@on_sqlite
async def test_a_token_that_may_only_read_changes_nothing(site: Site, receiver: Receiver):
    made = await hook(site, receiver.url)
    async with await site.person("ann", scopes=["read"]) as reader:
        assert len(ok(await reader.get("/api/webhooks"))["items"]) == 1
        for answer in [
            await reader.post("/api/webhooks", json={"url": receiver.url}),
            await reader.patch(f"/api/webhooks/{made['id']}", json={"active": False}),
            await reader.delete(f"/api/webhooks/{made['id']}"),
            await reader.post(f"/api/webhooks/{made['id']}/test"),
        ]:
            problem(answer, 403, "forbidden")


@on_sqlite
async def test_a_tenant_has_a_bounded_number_of_webhooks(site: Site, receiver: Receiver, monkeypatch):
    monkeypatch.setattr(stored, "MOST_WEBHOOKS", 1)
    await hook(site, receiver.url)
    problem(await site.ann.post("/api/webhooks", json={"url": receiver.url}), 422, "invalid")


@on_sqlite
async def test_changes_are_partial(site: Site, receiver: Receiver):
    made = await hook(site, receiver.url, states=["failed"], operations=["break"])
    path = f"/api/webhooks/{made['id']}"
    changed = ok(await site.ann.patch(path, json={"states": ["SUCCEEDED"]}))
    assert (changed["states"], changed["operations"], changed["active"]) == (["succeeded"], ["break"], True)
    assert ok(await site.ann.patch(path, json={"operations": None}))["operations"] is None
    assert ok(await site.ann.patch(path, json={}))["states"] == ["succeeded"]


async def test_an_address_of_this_machine_is_refused_by_default(sqlite_url: str, tmp_path, receiver: Receiver):
    app = App(sqlite_url, settings=Settings(blobs_url=(tmp_path / "b").as_uri()))
    async with opened_site(app) as site:
        document = problem(await site.ann.post("/api/webhooks", json={"url": receiver.url}), 422, "invalid")
    assert document["errors"][0]["path"] == "url"
    assert receiver.messages == []


@on_sqlite
async def test_a_receiver_that_drips_the_rest_of_its_answer_has_answered(site: Site):
    never = asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")
        await never.wait()
        writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    async with server, working(site.app):
        made = await hook(site, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        await ended(site.app, await site.make("secret"))
        [delivery] = await delivered(site, made, "succeeded")
        assert delivery["response_status"] == 200
        never.set()


async def looked_up(site: Site, webhook) -> list[dict]:
    """What its delivery said before each further attempt, until its webhook is paused."""
    said = []
    for attempts in range(1, 5):

        async def tried(attempts=attempts):
            found = await deliveries(site, webhook)
            return found if [(one["state"], one["attempts"]) for one in found] == [("queued", attempts)] else None

        said += await eventually(tried)
        await hurry(site)
    return said + await delivered(site, webhook, "partial")


class TestNamesInside:
    """There is a name `db.inside` in the private network, and none that is `nothing.inside`."""

    @pytest.fixture
    def app(self, sqlite_url: str, tmp_path: Path) -> App:
        return App(sqlite_url, settings=Settings(blobs_url=(tmp_path / "b").as_uri(), poll_seconds=0.2))

    @pytest.fixture(autouse=True)
    def names(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def resolve(host: str, _port: int) -> list[str]:
            if host == "db.inside":
                return ["10.0.0.7"]
            raise OSError("no such name")

        monkeypatch.setitem(Outbound.__init__.__kwdefaults__, "resolve", resolve)

    async def test_nobody_but_an_administrator_learns_which_there_are(self, site: Site):
        refused = []
        for host in ("db.inside", "nothing.inside"):
            answer = await site.ann.post("/api/webhooks", json={"url": f"http://{host}/"})
            document = problem(answer, 422, "invalid")
            refused.append(str({**document, "instance": ""}).replace(host, "HOST"))
        assert refused[0] == refused[1]
        told = [
            problem(await site.root.post("/api/webhooks", json={"url": f"http://{host}/"}), 422, "invalid")["detail"]
            for host in ("db.inside", "nothing.inside")
        ]
        assert "private network" in told[0]
        assert "cannot be resolved" in told[1]

    async def test_deliveries_do_not_tell_either(self, site: Site):
        """Of names that led outside when their webhooks were made."""
        told = []
        for host in ("db.inside", "nothing.inside"):
            made = (await stored.create(site.app, "north", f"http://{host}/")).id
            async with working(site.app):
                job = await ended(site.app, await site.make("secret"))
                shown = [await looked_up(site, {"id": made})]
            [delivery] = await deliveries(site, {"id": made})
            own = f"/api/jobs/{delivery['id']}"
            shown += [ok(await site.ann.get(path)) for path in (own, f"{own}/events", "/api/inbox", "/api/webhooks")]
            assert (await site.ann.delete(f"/api/webhooks/{made}")).status_code == 204
            text = json.dumps(shown, sort_keys=True)
            for name, value in {"HOST": host, "JOB": job.id, "DELIVERY": delivery["id"], "HOOK": made}.items():
                text = text.replace(value, name).replace(value.replace("-", ""), name)
            told.append(re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z|: \d+\.\d+", "TIME", text))
        assert told[0] == told[1]


class TestAnAddressThatIsRefusedLater:
    @pytest.fixture
    def app(self, database_url: str, tmp_path: Path) -> App:
        settings = Settings(blobs_url=(tmp_path / "b").as_uri(), poll_seconds=0.2, drain_seconds=0.2, pool_size=4)
        return App(database_url, settings=settings)

    async def test_pauses_the_webhook_until_a_person_goes_on(
        self, site: Site, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
    ):
        rules = Outbound.__init__.__kwdefaults__
        monkeypatch.setitem(rules, "permitted", lambda _: True)
        made = await hook(site, receiver.url)
        assert made["paused_reason"] is None
        monkeypatch.setitem(rules, "permitted", is_public)
        async with working(site.app):
            await ended(site.app, await site.make("secret"))
            await looked_up(site, made)
            [found] = ok(await site.ann.get("/api/webhooks"))["items"]
            assert (found["active"], found["paused_reason"]) == (False, REFUSED)
            assert receiver.messages == []
            assert ok(await site.ann.get("/api/inbox"))["items"] == []
            # While it is refused, nobody can go on by mistake.
            problem(await site.ann.patch(f"/api/webhooks/{made['id']}", json={"active": True}), 422, "invalid")
            monkeypatch.setitem(rules, "permitted", lambda _: True)
            found = ok(await site.ann.patch(f"/api/webhooks/{made['id']}", json={"active": True}))
            assert (found["active"], found["paused_reason"], found["failing_since"]) == (True, None, None)
            await ended(site.app, await site.make("secret"))
            await delivered(site, made, "succeeded", "partial")
        assert len(receiver.messages) == 1


async def test_a_delivery_belongs_to_the_trace_of_its_job(site: Site, receiver: Receiver):
    made = await hook(site, receiver.url)
    trace = "00-" + "1" * 32 + "-" + "2" * 16 + "-01"
    async with working(site.app):
        job = await site.make("secret", trace=trace)
        await in_state(site.app, job, "succeeded")
        [delivery] = await delivered(site, made, "succeeded")
    assert (await site.app.get(delivery["id"])).trace == trace
