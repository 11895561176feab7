"""What a provider says by itself may be recorded by somebody and sent again: that asks the provider no oftener."""

from tests.contracts.stores import Hands
from tests.engine.at_providers import make_waiting, wait_at
from tests.providers.scripted import ScriptedProvider
from towpath.engine.tending.reconciler import Reconciler

FOR_EVER = 10**9
SIGNED = {"signature": "good"}


async def test_a_notice_that_is_sent_again_and_again_leads_to_one_look_until_ten_seconds_are_over(new_app):
    provider = ScriptedProvider(looks=FOR_EVER)
    app = new_app()
    wait_at(app, provider)
    async with app:
        await make_waiting(app, provider, 1)
        notice = provider.ledger.paid[0].external_id.encode()
        reconciler = Reconciler(app.services)
        for _ in range(5):
            await app.provider_jobs.called_back("SCRIPTED", SIGNED, notice)
            await reconciler.turn()
        assert provider.polls == 1
        await time_passes(app, "next_poll_at", "told_at")
        await reconciler.turn()
        assert provider.polls == 2, "what came during the pause is not lost"
        assert await app.provider_jobs.called_back("SCRIPTED", SIGNED, notice)
        await reconciler.turn()
        assert provider.polls == 3


async def time_passes(app, *names):
    hands = Hands(app.services.store)
    earlier = "{0} - 11" if hands.store.dialect == "sqlite" else "{0} - interval '11 seconds'"
    changed = ", ".join(f"{name} = {earlier.format(name)}" for name in names)
    await hands.sql(f"UPDATE {hands.table('provider_job')} SET {changed} RETURNING 1 AS done")
