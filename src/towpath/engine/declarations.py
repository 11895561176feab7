"""What an app is made of: everything that code declares before the app is opened, and that needs no database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from towpath.core.errors import Category, ConfigurationError
from towpath.core.provider_jobs import CANCEL_EXTERNAL
from towpath.core.records import DEFAULT_QUEUE, DEFAULT_TENANT
from towpath.core.retry import Retry
from towpath.engine import projections, schedules
from towpath.engine.asking.explain import Explainer
from towpath.engine.projections import Project
from towpath.engine.providers import ProviderFactory, Providers
from towpath.engine.registry import Operation, Registry, check_importable, check_label, check_name, describe_function
from towpath.engine.running.cancelling_external import cancel_external
from towpath.engine.services import Keep, Turn, Workload
from towpath.store.migrating import ENGINE, Slice

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


class Declarations:
    """The half of an app that is there before it is opened."""

    def __init__(self) -> None:
        self.registry = Registry()
        self.resource_factories: dict[str, Callable[[], Any]] = {}
        self.projections: dict[str, Project] = {}
        self._slices: list[Slice] = [ENGINE]
        self._plans: dict[str, schedules.Planned] = {}
        self._retention: dict[str, Keep] = {}
        self._workloads: dict[str, Workload] = {}
        self._explainers: dict[str, Explainer] = {}
        self._providers: dict[str, ProviderFactory] = {}
        self._parts: dict[type[Any], Any] = {}
        self._loops: dict[str, Turn] = {}

    def operation(
        self,
        name: str,
        *,
        queue: str = DEFAULT_QUEUE,
        max_attempts: int | None = None,
        timeout: float = 3600.0,
        retry: Retry | None = None,
        max_wait: float = 7 * 86400.0,
        isolation: str | None = None,
        memory_mb: int | None = None,
        budget: str | None = None,
        public: bool = False,
    ) -> Callable[[F], F]:
        """Registers a function as an operation; see docs/how-to/add-an-operation.md for every option."""
        if timeout <= 0:
            raise ConfigurationError(f"timeout must be above zero seconds, got {timeout!r}")
        if isolation not in (None, "process"):
            raise ConfigurationError(f"isolation is None or 'process', got {isolation!r}")
        if memory_mb is not None and (isolation is None or memory_mb < 1):
            raise ConfigurationError(f"memory_mb needs isolation='process' and a limit of 1 or more, got {memory_mb!r}")
        policy = retry or Retry(limit=max_attempts or 3)
        if retry is not None and max_attempts is not None and retry.limit != max_attempts:
            raise ConfigurationError(f"max_attempts={max_attempts} and retry.limit={retry.limit} disagree; give one of them")

        def register(function: F) -> F:
            is_async, takes_payload, adapter = describe_function(function)
            if isolation == "process":
                check_importable(function)
            operation = Operation(
                check_name("an operation's name", name), function, check_name("a queue's name", queue), policy, timeout,
                max_wait, isolation, memory_mb, budget, public, is_async, takes_payload, adapter,
            )  # fmt: skip
            self.registry.add(operation)
            return function

        return register

    def resource(self, name: str) -> Callable[[F], F]:
        """Registers something that is opened once per worker process: `await ctx.resources.get(name)`."""

        def register(factory: F) -> F:
            self.resource_factories[name] = factory
            return factory

        return register

    def map_exception(self, error: type[BaseException], category: Category | str) -> None:
        """Says how to react to an exception of somebody else's library."""
        self.registry.map_exception(error, category)

    def schedule(
        self,
        name: str,
        cron: str,
        operation: str,
        payload: Any = None,
        *,
        tenant: str = DEFAULT_TENANT,
        timezone: str = "UTC",
        priority: int = 1,
    ) -> None:
        """Enqueues `operation` whenever `cron` says so, once across all processes."""
        self._plans[name] = schedules.check(
            schedules.Planned(check_name("a schedule's name", name), cron, operation, payload, tenant, timezone, priority)
        )

    def retain(self, queue: str, *, succeeded_days: float = 0.0, failed_days: float = 0.0) -> None:
        """How long ended jobs of one queue are kept, instead of what the settings say for all; 0 is for ever."""
        if succeeded_days < 0 or failed_days < 0:
            raise ConfigurationError(f"days must be zero or more, got {succeeded_days!r} and {failed_days!r}")
        self._retention[check_name("a queue's name", queue)] = Keep(succeeded_days, failed_days)

    def projection(self, kind: str) -> Callable[[F], F]:
        """Registers how subjects of this kind are told of on the push stream whenever a job of theirs has changed."""

        def register(project: F) -> F:
            projections.add(self.projections, kind, project)
            return project

        return register

    def workload(self, kind: str) -> Callable[[Workload], Workload]:
        """Registers who knows how much work jobs on this kind of subject are, for estimates of when they will be done.

        The function gets jobs that wait or are under way, of everybody, and answers a `Work` for each, by job id. What it
        leaves out, and kinds that nobody is registered for, take what jobs of the same operation took lately."""

        def register(function: Workload) -> Workload:
            self._workloads[check_name("a subject's kind", kind)] = function
            return function

        return register

    def explains(self, signal: str) -> Callable[[Explainer], Explainer]:
        """Registers who says why a job waits for this signal, or for one that is named so up to a colon. The function gets a
        `Reading` and the job, and answers a `Why`, or None if it knows no better."""

        def register(function: Explainer) -> Explainer:
            self._explainers[check_label("signal", signal)] = function
            return function

        return register

    def provider(self, name: str, factory: ProviderFactory, *, unless_there: bool = False) -> None:
        """Registers a batch provider for `ctx.submit`; it is made by `factory` when it is first needed. `unless_there`
        leaves one that somebody has registered under this name as it is, whoever comes first."""
        if not self._providers:
            self.operation(CANCEL_EXTERNAL, max_attempts=10)(cancel_external)
        if unless_there:
            self._providers.setdefault(check_name("a provider's name", name), factory)
        else:
            self._providers[check_name("a provider's name", name)] = factory

    def declared_providers(self) -> Providers:
        """The batch providers that were registered, also of an app that is not open; whoever asks closes them."""
        return Providers(self._providers)

    def loop(self, name: str, turn: Turn) -> None:
        """Has every worker of this app call `turn` again and again beside its jobs, from when it starts until it stops: for
        whatever comes from outside and rings no doorbell, such as messages of a queue. It answers how many seconds to wait
        until the next time. One that raises is logged and called again; any number of processes may run it, so what it does
        is guarded in the database."""
        if name in self._loops:
            raise ConfigurationError(f"two loops are named {name!r}; give one of them another name")
        self._loops[check_name("a loop's name", name)] = turn

    def add_slice(self, part: Slice) -> bool:
        """Brings a product's own tables and named queries; call it before the app is opened. Answers whether it is new:
        twice is as good as once, and whoever brings more along does that the first time."""
        if part in self._slices:
            return False
        self._slices.append(part)
        return True

    def part(self, kind: type[T]) -> T:
        """What a slice keeps on an app, such as what has been registered with it: one object of each kind, made when it is
        first asked for."""
        if kind not in self._parts:
            self._parts[kind] = kind()
        found: T = self._parts[kind]
        return found
