"""A provider inside the test's own process, for what the engine makes of any of them: it does as it is told."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from towpath import Fatal, RateLimited, SchemaInvalid, Transient
from towpath.providers import Answer, Counts, Files, Found, Grade, Limits, Order, Phase, Prepared, Result, Vanished
from towpath.providers.simulator import Fault, Pace, Simulator


class ScriptedProvider:
    """Jobs and faults are a simulator's; only the wire is missing. `refuses` are models it will not take."""

    name = "SCRIPTED"
    task_types = frozenset({"completion", "transcription"})
    limits = Limits(count=100)
    reads: frozenset[str] = frozenset()
    cancels = True
    prepares_again = False
    submit_seconds = 1.0

    def __init__(self, grade: Grade = Grade.LISTED, looks: int = 2) -> None:
        self.grade = grade
        self.simulator = Simulator(pace=Pace(looks))
        self.calls: list[str] = []
        self.refuses: set[str] = set()
        self.cleaned: list[str] = []
        self.polls = 0

    @property
    def ledger(self):
        return self.simulator.ledger

    async def check(self, order: Order | None = None) -> None:
        self.calls.append("check")

    async def prepare(self, order: Order, files: Files) -> Prepared:
        self.calls.append("prepare")
        return {"file": f"file-of-{order.key}"}

    async def submit(self, order: Order, prepared: Prepared) -> str:
        self.calls.append("submit")
        assert prepared == {"file": f"file-of-{order.key}"}
        if self.simulator.faults.strikes(Fault.RATE_LIMITED):
            raise RateLimited("slow down", retry_after=0.01)
        if self.simulator.faults.strikes(Fault.DENIED):
            raise Fatal("the credentials are no longer good")
        if order.model in self.refuses:
            raise SchemaInvalid(f"there is no model {order.model}")
        job = self.simulator.accept(self.simulator.new_id("ext-"), order.key, order, order.count)
        if self.simulator.faults.strikes(Fault.LOST_ANSWER):
            raise Transient("500 after all")
        return job.id

    async def find(self, order: Order, prepared: Prepared) -> Found | None:
        self.calls.append("find")
        if self.grade is Grade.AMBIGUOUS:
            return None
        for job in self.simulator.jobs.values():
            if job.key == order.key:
                return Found(job.id, "RUNNING")
        return None

    async def poll(self, order: Order, prepared: Prepared, external_id: str) -> Answer:
        self.polls += 1
        if self.simulator.faults.strikes(Fault.RATE_LIMITED):
            raise RateLimited("slow down", retry_after=300)
        if self.simulator.faults.strikes(Fault.UNAVAILABLE):
            raise Transient("503")
        job = self.simulator.jobs[external_id]
        state = job.look()
        if state == "gone":
            raise Vanished(f"there is no job {external_id}")
        if state in ("waiting", "running", "odd"):
            return Answer(state.upper(), Phase.RUNNING, counts=Counts(order.count, 0, 0))
        phase = {"done": Phase.COMPLETED, "partial": Phase.PARTIAL, "failed": Phase.FAILED, "cancelled": Phase.CANCELLED}
        return Answer(state.upper(), phase[state], output_uri=f"mem://{external_id}")

    async def fetch(self, order: Order, prepared: Prepared, external_id: str) -> AsyncGenerator[Result, None]:
        job = self.simulator.jobs[external_id]
        for number in range(order.count):
            error = "it did not work" if job.fails(number) else None
            yield Result(f"r{number}", None if error else {"text": f"answer {number}"}, error)

    async def cancel(self, order: Order, prepared: Prepared, external_id: str) -> None:
        self.calls.append("cancel")
        self.simulator.jobs[external_id].cancelled = True

    async def clean(self, order: Order, prepared: Prepared) -> None:
        self.cleaned.append(order.key)

    def called_back(self, headers: Mapping[str, str], body: bytes) -> str | None:
        return body.decode() if headers.get("signature") == "good" else None

    async def aclose(self) -> None:
        self.calls.append("aclose")
