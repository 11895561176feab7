"""Whether a batch provider can be ordered from, for `towpath doctor --provider`: asked of the provider itself.

Each finding stands on the one before: without its library there are no credentials to look for, and without credentials
nobody to ask.
"""

from __future__ import annotations

from towpath import batches
from towpath.batches.names import LOCAL
from towpath.cli.extras import how_to_install, missing_of
from towpath.core.errors import ConfigurationError, OperationError, RateLimited, Transient
from towpath.engine.app import App
from towpath.engine.asking.findings import Finding, note, ok, problem
from towpath.providers import Probing, Provider
from towpath.providers.catalog import PROVIDERS

_CREDENTIALS = "set what it reads from the environment, or register it in an app and name that with --app"
_NETWORK = "check the network, the proxy and the endpoint of the settings, then try again"


async def checkup(app: App, name: str) -> list[Finding]:
    batches.attach(app)
    providers = app.declared_providers()
    asked = _known(name, providers.names)
    library = _library(asked)
    if any(finding.remedy for finding in library):
        return library
    try:
        return [*library, *await _live(providers.get(asked))]
    except ConfigurationError as error:  # so may the factory of somebody's own app say
        return [*library, problem("credentials", str(error), _CREDENTIALS)]
    finally:
        await providers.close()


def _known(name: str, names: list[str]) -> str:
    asked = name.strip().upper().replace("-", "_")
    if asked == LOCAL:
        raise ConfigurationError(f"{LOCAL} is your own workers, and no provider; towpath config shows whom they ask")
    found = next((one for one in (name, asked) if one in names), None)
    if found is None:
        raise ConfigurationError(f"no batch provider is named {name[:100]!r}; there are {', '.join(names)}")
    return found


def _library(name: str) -> list[Finding]:
    """Nothing, for a provider of somebody's own: what that needs is not known here."""
    entry = PROVIDERS.get(name)
    if entry is None:
        return []
    missing = missing_of(entry.extra)
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        return [problem("library", f"{', '.join(missing)} {verb} not installed", how_to_install(entry.extra))]
    return [ok("library", f"towpath[{entry.extra}] is installed")]


async def _live(provider: Provider) -> list[Finding]:
    try:
        await provider.check()
    except ConfigurationError as error:
        return [problem("credentials", str(error), _CREDENTIALS)]
    except OperationError as error:
        return [problem("credentials", str(error), error.remedy or _CREDENTIALS)]
    return [ok("credentials", f"{provider.name} has some"), await _endpoint(provider)]


async def _endpoint(provider: Provider) -> Finding:
    if not isinstance(provider, Probing):
        return note("endpoint", f"{provider.name} has no way to be tried without an order", "order something small")
    try:
        said = await provider.probe()
    except ConfigurationError as error:
        return problem("endpoint", str(error), _CREDENTIALS)
    except RateLimited as error:
        return note("endpoint", f"{provider.name} answers, and wants to be asked less: {error}", "try again later")
    except Transient as error:
        return problem("endpoint", str(error), _NETWORK)
    except OperationError as error:
        return problem("endpoint", str(error), error.remedy or _NETWORK)
    return ok("endpoint", f"{provider.name} answers, and takes the credentials: asked for {said}")
