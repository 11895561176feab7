"""GET /api/events: what a client hears, from whom, and when it is told to go."""

import asyncio
from datetime import timedelta

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.engine.working import ended, on_sqlite, working
from tests.server.push.listening import Listener
from tests.server.push.serving import PATIENCE, serving
from towpath.core.ids import uuid7
from towpath.engine.tending import tombstones
from towpath.identity import accounts, links, sessions, tokens
from towpath.push import Limits
from towpath.server.assembly import create_app, running
from towpath.server.options import ServerOptions
from towpath.server.streams import end_streams


async def work_off(app, *jobs):
    async with working(app):
        for job in jobs:
            await ended(app, job)


async def get(address, token, **query):
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return await client.get(f"{address}/api/events", headers=headers, params=query)


async def test_a_job_is_heard_from_its_making_to_its_end(app, listen):
    anna = await listen("anna")
    job = await app.enqueue("work", 2, tenant="anna")
    await work_off(app, job)
    await anna.until(lambda heard: heard.ended(job.id))
    assert anna.names(job.id) == ["job.created", "job.started", "word", "word", "job.succeeded"]
    assert anna.events == [(job.id, seq) for seq in range(1, 6)]
    last = anna.of("job")[-1]
    assert set(last) == {"job", "events"}
    assert (last["job"]["state"], last["job"]["operation"], last["job"]["seq"]) == ("succeeded", "work", 5)
    assert "a result" not in str(anna.heard)


@on_sqlite
async def test_a_stream_may_not_be_stored_or_changed_on_its_way(listen):
    headers = (await listen()).headers
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["cache-control"] == "no-store, no-transform"
    assert headers["x-accel-buffering"] == "no"
    assert "content-length" not in headers


async def test_heartbeats_show_that_it_lives_and_move_the_id_along(app, listen):
    anna = await listen("anna")
    await anna.until(lambda heard: heard.parser.last_id is not None)
    assert anna.parser.retry == 1000
    first = anna.parser.last_id
    await app.enqueue("work", tenant="bert")  # not for anna, but behind her now
    await anna.until(lambda heard: heard.parser.comments > 1 and heard.parser.last_id != first)
    assert anna.heard == []


async def test_another_tenants_jobs_never_appear(app, listen):
    anna, bert, admin = await listen("anna"), await listen("bert"), await listen("anna", admin=True)
    only_bert = await listen("anna", admin=True, tenant="bert")
    jobs = {tenant: await app.enqueue("work", 1, tenant=tenant) for tenant in ("anna", "bert")}
    await work_off(app, *jobs.values())
    await app.delete(jobs["bert"].id)
    for listener, tenants in ((anna, ["anna"]), (bert, ["bert"]), (admin, ["anna", "bert"]), (only_bert, ["bert"])):
        own = [jobs[tenant].id for tenant in tenants]
        last = await app.enqueue("work", tenant=tenants[-1])
        await listener.until(lambda heard, last=last: last.id in dict(heard.events))
        assert {data["job"]["tenant"] for data in listener.of("job")} == set(tenants)
        assert {job_id for job_id, _ in listener.events if job_id in {job.id for job in jobs.values()}} == set(own)
        assert listener.of("deleted") == ([{"id": jobs["bert"].id}] if "bert" in tenants else [])


@on_sqlite
async def test_somebody_elses_tenant_cannot_be_asked_for(address, token_for):
    answer = await get(address, await token_for("anna"), tenant="bert")
    assert (answer.status_code, answer.headers["content-type"]) == (403, "application/problem+json")


@on_sqlite
async def test_nobody_listens_without_a_token_that_may_read(address, token_for):
    assert (await get(address, None)).status_code == 401
    assert (await get(address, "tow_wrong")).status_code == 401
    assert (await get(address, await token_for("anna", scopes=["write"]))).status_code == 403


@on_sqlite
@pytest.mark.parametrize("query", [{"job_id": "x"}, {"types": "reset"}, {"afer": "1"}, {"after": "x" * 16_001}])
async def test_what_cannot_be_asked_for_is_refused(address, token_for, query):
    assert (await get(address, await token_for("anna"), **query)).status_code == 422


async def test_one_job_can_be_listened_to(app, listen):
    job, other = [await app.enqueue("work", tenant="anna") for _ in range(2)]
    anna = await listen("anna", job_id=job.id.upper())
    await work_off(app, other, job)
    await anna.until(lambda heard: heard.ended(job.id))
    assert {job_id for job_id, _ in anna.events} == {job.id}


async def test_a_job_that_is_not_ones_own_is_not_there(app, address, token_for):
    job, token = await app.enqueue("work", tenant="bert"), await token_for("anna")
    admin = await token_for("anna", admin=True)
    answers = [await get(address, token, job_id=job_id, after=after) for job_id in (job.id, uuid7()) for after in ("", "x")]
    assert [answer.status_code for answer in answers] == [404] * 4
    assert len({answer.json()["detail"].replace(job.id, "").split("'")[-1] for answer in answers}) == 1
    assert (await get(address, admin, job_id=job.id, tenant="anna")).status_code == 404


async def test_one_who_returns_to_a_job_is_told_that_it_has_been_deleted(app, listen, address, token_for):
    job = await app.enqueue("work", tenant="anna")
    await app.cancel(job.id)
    anna = Listener(address, await token_for("anna"), {"job_id": job.id})
    async with anna.connected():
        await anna.until(lambda heard: heard.parser.last_id)
    await app.delete(job.id)
    async with anna.connected():
        await anna.until(lambda heard: heard.of("deleted"))
    assert anna.of("deleted") == [{"id": job.id}]
    bert = Listener(address, await token_for("bert"), {"job_id": job.id}, parser=anna.parser)
    with pytest.raises(httpx.HTTPStatusError, match="404"):
        await bert.listen()
    assert (await get(address, anna.token, job_id=job.id)).status_code == 404  # not returning: there is no such job


async def test_only_deletions_can_be_listened_to(app, listen):
    anna = await listen("anna", types="deleted")
    job = await app.enqueue("work", tenant="anna")
    await app.cancel(job.id)
    await app.delete(job.id)
    await anna.until(lambda heard: heard.heard)
    assert [message.event for message in anna.heard] == ["deleted"]


async def test_the_id_of_every_message_leads_right_behind_it(app, address, token_for):
    anna = Listener(address, await token_for("anna"))
    async with anna.connected():
        jobs = [await app.enqueue("work", tenant="anna") for _ in range(4)]
        await work_off(app, *jobs)
        await anna.until(lambda heard: heard.ended(*(job.id for job in jobs)))
    last = await app.enqueue("work", tenant="anna")
    for by_header in (True, False):
        for number, message in enumerate(anna.heard, 1):
            again = Listener(address, anna.token)
            if by_header:
                again.parser.last_id = message.id
                again.query = {"after": anna.heard[0].id}  # as a browser that comes back: the header goes before it
            else:
                again.query = {"after": message.id}
            async with again.connected():
                await again.until(lambda heard: last.id in dict(heard.events))
            told_before = [key for data in anna.of("job")[:number] for key in _keys(data)]
            assert_same(told_before + again.events, [*anna.events, (last.id, 1)])


def _keys(data):
    return [(event["job_id"], event["seq"]) for event in data["events"]]


def assert_same(found, expected):
    """All events once, those of each job in order. Which job comes first depends on what is read together."""
    assert sorted(found) == sorted(expected)
    for job_id in dict(found):
        seqs = [seq for one, seq in found if one == job_id]
        assert seqs == sorted(seqs)


async def test_an_id_that_does_not_fit_is_answered_by_a_reset_and_the_stream_goes_on(app, listen):
    before = await app.enqueue("work", tenant="anna")
    anna = await listen("anna", after="no-such-token")
    await anna.until(lambda heard: heard.heard)
    assert [(message.event, message.data) for message in anna.heard] == [("reset", {"reason": "unknown"})]
    after = await app.enqueue("work", tenant="anna")
    await anna.until(lambda heard: len(heard.heard) > 1)
    assert anna.events == [(after.id, 1)]
    assert before.id not in str(anna.heard)


async def test_the_id_of_a_reset_leads_on(app, address, token_for):
    anna = Listener(address, await token_for("anna"), {"after": "no-such-token"})
    async with anna.connected():
        await anna.until(lambda heard: heard.heard)
    job = await app.enqueue("work", tenant="anna")
    async with anna.connected():
        await anna.until(lambda heard: heard.events)
    assert ([message.event for message in anna.heard], anna.events) == (["reset", "job"], [(job.id, 1)])


class TestIdsThatWerePruned:
    @pytest.fixture
    def limits(self):
        return Limits(heartbeat=0.1, tokens=timedelta(0))

    async def test_an_id_older_than_deletions_are_remembered_is_answered_by_a_reset(self, app, address, token_for):
        anna = Listener(address, await token_for("anna"))
        async with anna.connected():
            job = await app.enqueue("work", tenant="anna")
            await anna.until(lambda heard: heard.events)
        await app.cancel(job.id)
        await app.delete(job.id)
        assert await tombstones.forget(app.services.store, timedelta(0)) == 1
        async with anna.connected():
            await anna.until(lambda heard: len(heard.heard) > 1)
            assert (anna.heard[-1].event, anna.heard[-1].data) == ("reset", {"reason": "expired"})
            job = await app.enqueue("work", tenant="anna")
            await anna.until(lambda heard: job.id in dict(heard.events))


async def test_a_revoked_token_ends_its_stream(app, address, token_for):
    anna, bert = Listener(address, await token_for("anna")), Listener(address, await token_for("bert"))
    async with asyncio.timeout(PATIENCE), bert.connected():
        listening = asyncio.create_task(anna.listen())
        await anna.until(lambda heard: heard.connections)
        store = app.services.store
        [token] = [one for one in await tokens.page(store) if one.tenant == "anna"]
        await tokens.revoke(store, token.id)
        await listening
        job = await app.enqueue("work", tenant="bert")
        await bert.until(lambda heard: heard.events == [(job.id, 1)])
    with pytest.raises(httpx.HTTPStatusError, match="401"):
        await anna.listen()


@on_sqlite
@pytest.mark.parametrize("change", [{"disabled": True}, {"tenants": ["bert"]}, {"admin": False}])
async def test_an_account_that_may_less_than_before_loses_its_stream(app, address, token_for, change):
    anna = Listener(address, await token_for("anna", admin=True))
    async with asyncio.timeout(PATIENCE):
        listening = asyncio.create_task(anna.listen())
        await anna.until(lambda heard: heard.connections)
        store = app.services.store
        [account] = await accounts.page(store)
        await accounts.create(store, "another", tenants=["anna"], admin=True)  # the last administrator stays one
        await accounts.change(store, account.id, **change)
        await listening


@on_sqlite
async def test_streams_end_when_the_server_says_so_and_new_ones_are_refused(api, address, token_for):
    anna = Listener(address, await token_for("anna"))
    async with asyncio.timeout(PATIENCE):
        listening = asyncio.create_task(anna.listen())
        await anna.until(lambda heard: heard.connections)
        end_streams(api)
        await listening
    answer = await get(address, anna.token)
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/unavailable")
    assert int(answer.headers["retry-after"]) > 0


class TestQuietStreams:
    @pytest.fixture
    def limits(self):
        return Limits(heartbeat=3600.0, farewell=60.0, recheck=0.1)

    async def test_one_that_has_nothing_to_say_ends_at_once_and_properly_when_its_token_is_revoked(
        self, app, address, token_for
    ):
        anna = Listener(address, await token_for("anna"))
        async with asyncio.timeout(PATIENCE):
            listening = asyncio.create_task(anna.listen())
            await anna.until(lambda heard: heard.connections)
            [token] = await tokens.page(app.services.store)
            await tokens.revoke(app.services.store, token.id)
            await listening  # an answer that was broken off would raise

    async def test_one_whose_right_cannot_be_judged_ends(self, app, address, token_for, monkeypatch, caplog):
        anna = Listener(address, await token_for("anna"))
        async with asyncio.timeout(PATIENCE):
            listening = asyncio.create_task(anna.listen())
            await anna.until(lambda heard: heard.connections)
            await app.services.store.run(lambda tx: tx.execute_sql(f"DROP TABLE {_table(app, 'token')}"))
            await listening
        assert "it ends" in caplog.text


def _table(app, name):
    return f"towpath_{name}" if app.services.store.dialect == "sqlite" else f"towpath.{name}"


@on_sqlite
class TestCrowds:
    @pytest.fixture
    def limits(self):
        return Limits(streams=3, streams_each=2)

    async def test_an_account_has_a_bounded_number_of_streams(self, address, token_for, listen):
        anna = Listener(address, await token_for("anna"))
        again = Listener(address, anna.token)
        async with anna.connected():
            async with again.connected():
                answer = await get(address, anna.token)
                assert (answer.status_code, answer.json()["type"]) == (429, "/problems/throttled")
                await listen("bert")
                assert (await get(address, await token_for("carl"))).status_code == 429
            async with asyncio.timeout(PATIENCE):
                while True:
                    try:
                        async with again.connected():
                            return
                    except httpx.HTTPStatusError:  # the server has not noticed yet that one has gone
                        await asyncio.sleep(0.01)


@on_sqlite
async def test_a_server_mounted_in_another_app_streams_below_its_path(app, limits, token_for):
    api = create_app(app, ServerOptions(ui=False, streams=limits))
    outer = Starlette(routes=[Mount("/towpath/here", api)])
    async with running(api), serving(outer) as address:
        anna = Listener(f"{address}/towpath/here", await token_for("anna"))
        async with anna.connected():
            job = await app.enqueue("work", tenant="anna")
            await anna.until(lambda heard: heard.events == [(job.id, 1)])


class TestALongAbsence:
    @pytest.fixture
    def limits(self):
        return Limits(heartbeat=5.0, page=3)

    async def test_what_is_read_on_the_way_back_shows_nothing_of_other_tenants_not_even_in_ids(
        self, app, address, token_for
    ):
        anna = Listener(address, await token_for("anna"), keep_bytes=True)
        async with anna.connected():
            await anna.until(lambda heard: heard.parser.last_id)
        foreign = await app.enqueue_many([{"operation": "work", "payload": 0, "tenant": "bert"}] * 50)
        own = await app.enqueue("work", tenant="anna")
        async with anna.connected():
            await anna.until(lambda heard: heard.events)
        assert anna.events == [(own.id, 1)]
        assert [job.id for job in foreign if job.id.encode() in anna.bytes] == []


async def _logged_in(app, tenants):
    return await _session_of(app, await accounts.create(app.services.store, "anna", tenants=tenants))


async def _session_of(app, account):
    """A session as logging in makes one: its id, and the cookie's secret."""
    store, new = app.services.store, sessions.new_session()

    async def unit(tx):
        [row] = await tx.fetch("account_by_id", id=account.id)
        return await sessions.begin(tx, new, row, app.settings)

    return (await store.run(unit)).credential, new.secret


@pytest.mark.parametrize("change", ["switch", "end"])
async def test_a_session_that_ends_or_turns_to_another_tenant_loses_its_stream(app, address, change):
    session_id, secret = await _logged_in(app, ["anna", "bert"])
    anna = Listener(address, cookie=secret)
    async with asyncio.timeout(PATIENCE):
        listening = asyncio.create_task(anna.listen())
        await anna.until(lambda heard: heard.connections)
        if change == "switch":
            await sessions.switch(app.services.store, session_id, "bert")
        else:
            [account] = await accounts.page(app.services.store)
            await sessions.end(app.services.store, account.id, session_id)
        await listening


class TestRevoked:
    """Long before anybody is asked closely: only the glance, or the revocation itself, can end these."""

    @pytest.fixture
    def limits(self):
        return Limits(heartbeat=3600.0, recheck=3600.0, glance=0.05)

    @pytest.fixture
    def revoked(self, app, address, token_for):
        async def end_by(revoke, **options):
            anna = Listener(address, await token_for("anna", **options))
            async with asyncio.timeout(PATIENCE):
                listening = asyncio.create_task(anna.listen())
                await anna.until(lambda heard: heard.connections)
                await revoke(anna)
                await listening

        return end_by

    async def test_by_another_process_a_stream_ends_within_a_glance(self, app, revoked):
        async def revoke(_listener):
            [token] = await tokens.page(app.services.store)
            await tokens.revoke(app.services.store, token.id)

        await revoked(revoke)

    async def test_a_member_who_is_none_any_more_hears_nothing_more(self, app, revoked):
        async def revoke(_listener):
            [account] = await accounts.page(app.services.store)
            await accounts.change(app.services.store, account.id, tenants=["elsewhere"])

        await revoked(revoke)

    async def test_what_else_happens_to_an_account_ends_nothing(self, app, api, address, token_for):
        anna = Listener(address, await token_for("anna"))
        async with anna.connected():
            await token_for("anna")
            [account, _] = await accounts.page(app.services.store)
            secret, made = await tokens.create(app.services.store, account, name="another")
            await tokens.revoke(app.services.store, made.id)
            looked = api.state.towpath_hub.judge
            looked.look_now()
            job = await app.enqueue("work", tenant="anna")
            await anna.until(lambda heard: heard.events == [(job.id, 1)])
            assert secret

    class TestHere:
        @pytest.fixture
        def limits(self):
            return Limits(heartbeat=3600.0, recheck=3600.0, glance=3600.0)

        async def test_by_this_process_a_stream_ends_at_once(self, app, address, revoked):
            async def revoke(listener):
                [token] = await tokens.page(app.services.store)
                async with httpx.AsyncClient(base_url=address, headers=_bearer(listener.token)) as client:
                    assert (await client.delete(f"/api/tokens/{token.id}")).status_code == 204

            await revoked(revoke)

        @pytest.mark.parametrize("ending", ["logged out", "ended elsewhere", "new password", "reset", "disabled", "deleted"])
        async def test_so_does_that_of_a_session_however_it_ends(self, app, address, token_for, ending):
            store, admin = app.services.store, await token_for("bert", admin=True)
            account = await accounts.create(store, "anna", tenants=["anna"])
            (session_id, secret), (_, other) = [await _session_of(app, account) for _ in range(2)]
            link, _ = await links.make(store, account.id, "reset")
            method, path, headers, body = {
                "logged out": ("DELETE", "session", _cookie(secret), None),
                "ended elsewhere": ("DELETE", f"sessions/{session_id}", _cookie(other), None),
                "new password": ("POST", "session/password", _cookie(other), {"new": "four quiet barges pass"}),
                "reset": ("POST", "session/reset", {}, {"token": link, "password": "four quiet barges pass"}),
                "disabled": ("PATCH", f"users/{account.id}", _bearer(admin), {"disabled": True}),
                "deleted": ("DELETE", f"users/{account.id}", _bearer(admin), None),
            }[ending]
            anna = Listener(address, cookie=secret)
            async with asyncio.timeout(PATIENCE), httpx.AsyncClient(base_url=f"{address}/api/", timeout=PATIENCE) as client:
                listening = asyncio.create_task(anna.listen())
                await anna.until(lambda heard: heard.connections)
                assert (await client.request(method, path, headers=headers, json=body)).is_success
                await listening


def _cookie(secret):
    return {"Cookie": f"towpath_session={secret}", "Sec-Fetch-Site": "same-origin"}


def _bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_unless_told_otherwise_nobody_who_was_revoked_listens_for_longer_than_a_second():
    assert Limits().glance <= 1.0
