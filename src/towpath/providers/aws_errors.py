"""What botocore's exceptions mean. AWS has its own words and uses statuses loosely: a wrong credential is a 400."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from towpath.core.errors import ConfigurationError, Fatal, OperationError, RateLimited, SchemaInvalid, Transient
from towpath.providers.contract import Vanished
from towpath.providers.refusals import refusal, seconds, told

_SLOW_DOWN = frozenset(
    {
        "LimitExceededException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "RequestLimitExceeded",
        "SlowDown",
    }
)
_DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "NotAuthorized",
        "OptInRequired",
        "RequestTimeTooSkewed",
        "SignatureDoesNotMatch",
        "SubscriptionRequiredException",
        "UnrecognizedClientException",
    }
)
_NO_RESULT_YET = frozenset({"NoSuchKey"})
_NO_SUCH_JOB = "The requested job couldn't be found"
"""A BadRequestException says so too, whatever the model has of a NotFoundException."""


class Conflict(Exception):
    """There is a job of this name."""


def translated(who: str, call: Callable[[], Any]) -> Any:
    """What the call answers; what it raises, in the engine's categories. Blocks: it is for threads."""
    from botocore import exceptions

    try:
        return call()
    except exceptions.ClientError as error:
        raise category(who, error.response) from None
    except exceptions.NoRegionError:
        raise ConfigurationError(f"{who} needs a region: set AWS_DEFAULT_REGION, or give one") from None
    except (exceptions.ProfileNotFound, exceptions.InvalidConfigError, exceptions.ConfigParseError) as error:
        raise ConfigurationError(f"the configuration of {who} cannot be used: {told(str(error))}") from None
    except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError, exceptions.CredentialRetrievalError) as error:
        raise Fatal(f"{who} has no credentials to ask with: {told(str(error))}", remedy="check AWS_ACCESS_KEY_ID") from None
    except exceptions.ParamValidationError as error:
        raise SchemaInvalid(f"{who} does not take this order: {told(str(error))}") from None
    except (exceptions.BotoCoreError, OSError) as error:
        raise Transient(f"{who} could not be reached: {type(error).__name__}: {told(str(error))}") from None


def category(who: str, response: dict[str, Any]) -> OperationError | Conflict:
    """By AWS's own word where there is one, else by status."""
    code = str(response.get("Error", {}).get("Code", ""))
    said = str(response.get("Error", {}).get("Message", ""))
    metadata = response.get("ResponseMetadata", {})
    status, headers = int(metadata.get("HTTPStatusCode", 500)), metadata.get("HTTPHeaders", {})
    message = f"{who} answered {code or status}: {told(said)}"
    if code == "ConflictException":
        return Conflict(message)
    if code in _SLOW_DOWN:
        return RateLimited(message, retry_after=seconds(headers.get("retry-after")))
    if code == "NotFoundException" or (code == "BadRequestException" and said.startswith(_NO_SUCH_JOB)):
        return Vanished(message)
    if code in _DENIED:
        return Fatal(message, remedy="check the AWS credentials, their policies and this machine's clock")
    if code in _NO_RESULT_YET:
        return Transient(message)
    return refusal(who, status, f"{code}: {said}", headers.get("retry-after"))
