"""`app.provider_jobs`: what was ordered from batch providers, and what a person may say about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial

from towpath.core.errors import NotRequeueable
from towpath.core.ids import FIRST_ID
from towpath.core.provider_jobs import ProviderJob
from towpath.engine.polling import polling_of
from towpath.engine.services import Services
from towpath.store import provider_journal

_PAUSE = timedelta(seconds=10)


class ProviderJobs:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def of(self, job_ids: Iterable[str]) -> dict[str, list[ProviderJob]]:
        """By job, in the order in which they were ordered."""
        asked = list(dict.fromkeys(job_ids))
        found: dict[str, list[ProviderJob]] = {job_id: [] for job_id in asked}
        if asked:
            for row in await self._services.store.read(partial(provider_journal.of_jobs, job_ids=asked)):
                found[row.job_id].append(row)
        return found

    async def unknown(self, *, after: str = FIRST_ID, limit: int = 100) -> Sequence[ProviderJob]:
        """Orders of which nobody can say whether their provider has them: a person has to look there."""
        return await self._services.store.read(partial(provider_journal.unknown, after=after, limit=limit))

    async def adopt(self, provider_job_id: str, external_id: str) -> ProviderJob:
        """A person has found it at the provider, under this id: from here on it is polled like any other."""
        return await self._resolve(provider_job_id, external_id)

    async def resubmit(self, provider_job_id: str) -> ProviderJob:
        """A person says that the provider has no such job: it is sent again."""
        return await self._resolve(provider_job_id, None)

    async def _resolve(self, provider_job_id: str, external_id: str | None) -> ProviderJob:
        polling = polling_of(self._services.settings)
        done = await self._services.store.run(
            partial(
                provider_journal.resolve, provider_job_id=provider_job_id, external_id=external_id,
                first_poll=polling.interval(0.0), timeout=polling.timeout,
            )
        )  # fmt: skip
        if done is None:
            raise NotRequeueable(f"the order {provider_job_id} is not in doubt, or there is none of that id")
        return done

    async def called_back(self, provider: str, headers: Mapping[str, str], body: bytes) -> bool:
        """A provider says that a job has ended. If it is really the provider who says it, the job is polled at once.

        Not every provider signs the time, so an old message may be sent again: it leads to one more look, at most every
        ten seconds. False: the message is not the provider's, or nobody waits for that job."""
        external_id = self._services.providers.get(provider).called_back(headers, body)
        if external_id is None:
            return False
        return await self._services.store.run(
            partial(provider_journal.poll_soon, provider=provider, external_id=external_id, pause=_PAUSE)
        )
