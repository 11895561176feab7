"""What exceptions of Google's libraries mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from towpath.core.errors import ConfigurationError, Fatal, OperationError, Transient
from towpath.providers.refusals import refusal, told

_ABORTED = 409  # somebody else was at it, which is over by the next attempt


def translated(who: str, call: Callable[[], Any]) -> Any:
    """What the call answers; what it raises, in the engine's categories. Blocks: it is for threads."""
    import requests
    from google.api_core import exceptions as api
    from google.auth import exceptions as auth
    from google.protobuf.json_format import ParseError

    try:
        return call()
    except api.GoogleAPICallError as error:
        raise category(who, error) from None
    except auth.DefaultCredentialsError as error:
        raise ConfigurationError(
            f"{who} has no credentials, set GOOGLE_APPLICATION_CREDENTIALS: {told(str(error))}"
        ) from None
    except auth.GoogleAuthError as error:
        message = f"{who} could not be given credentials: {type(error).__name__}: {told(str(error))}"
        if isinstance(error, auth.TransportError) or error.retryable:
            raise Transient(message) from None
        raise Fatal(message, remedy="check GOOGLE_APPLICATION_CREDENTIALS, and what they are allowed to do") from None
    except (api.GoogleAPIError, requests.RequestException, ParseError, OSError) as error:
        raise Transient(f"{who} could not be reached, or broke off: {type(error).__name__}: {told(str(error))}") from None


def category(who: str, error: Any) -> OperationError:
    status, response = int(error.code or 500), error.response
    again = response.headers.get("retry-after") if response is not None else None
    if status == _ABORTED:
        return Transient(f"{who} answered {status}: {told(error.message)}")
    return refusal(who, status, str(error.message), again)
