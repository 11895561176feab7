"""A client of boto3 for one queue: where it asks, and what its refusals mean."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from towpath.core.encoding import plain
from towpath.core.errors import ConfigurationError, Fatal, OperationError, RateLimited, SchemaInvalid, Transient

T = TypeVar("T")

_OF_AWS = re.compile(r"\.(amazonaws\.com(\.cn)?|api\.aws)$")
_REGION = re.compile(r"(?:^|\.)sqs(?:-fips)?\.([a-z0-9-]+)\.|^([a-z0-9-]+)\.queue\.amazonaws")
_GONE = frozenset({"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"})
_SLOW_DOWN = ("Throttl", "TooManyRequests", "RequestThrottled", "OverLimit", "KmsThrottled", "SlowDown")
_DENIED = (
    "AccessDenied", "ExpiredToken", "IncompleteSignature", "InvalidAccessKeyId", "InvalidAddress", "InvalidClientTokenId",
    "InvalidSecurity", "InvalidSignature", "MissingAuthenticationToken", "NotAuthorized", "OptInRequired",
    "SignatureDoesNotMatch", "UnrecognizedClient",
)  # fmt: skip


class SqsClient:
    """Made when it is first needed. Which credentials, region and endpoint it takes is said by AWS's own variables; where
    they name no endpoint, the one that the queue's address names."""

    def __init__(self, queue_url: str | None, timeout: float, region: str | None = None) -> None:
        self._url, self._timeout, self._region = queue_url, timeout, region
        self._client: Any = None
        self._making = threading.Lock()

    def call(self, method: str, **params: Any) -> Any:
        """Blocks: it is for threads."""
        return translated(lambda: getattr(self._made(), method)(**params))

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _made(self) -> Any:
        with self._making:
            if self._client is None:
                self._client = self._make()
            return self._client

    def _make(self) -> Any:
        try:
            import boto3
            from botocore.config import Config
        except ImportError:
            raise ConfigurationError("SQS needs boto3: pip install 'towpath[sqs]'") from None
        session = boto3.Session()
        # A long poll takes 20 seconds by itself. Whoever calls tries again by itself, and knows better when.
        config = Config(
            connect_timeout=min(10.0, self._timeout),
            read_timeout=self._timeout + 20,
            retries={"total_max_attempts": 2, "mode": "standard"},
            max_pool_connections=20,
        )
        region = region_of(self._url or "") or self._region or session.region_name
        client = session.client("sqs", region_name=region or ("us-east-1" if self._elsewhere() else None), config=config)
        if self._elsewhere() and _OF_AWS.search(urlsplit(client.meta.endpoint_url).hostname or ""):
            client.close()
            client = session.client("sqs", client.meta.region_name, endpoint_url=origin(self._url or ""), config=config)
        return client

    def _elsewhere(self) -> bool:
        """Whether the queue's address is that of another service that speaks SQS."""
        host = urlsplit(self._url or "").hostname
        return bool(host) and not _OF_AWS.search(host or "")


def region_of(url: str) -> str | None:
    found = _REGION.search(urlsplit(url).hostname or "") if _OF_AWS.search(urlsplit(url).hostname or "") else None
    return (found[1] or found[2]) if found else None


def origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def translated(call: Callable[[], T]) -> T:
    """What the call answers; what it raises, in the engine's categories."""
    try:
        from botocore import exceptions
    except ImportError:
        return call()  # and it says what is missing
    try:
        return call()
    except exceptions.ClientError as error:
        raise category(error.response) from None
    except exceptions.NoRegionError:
        raise ConfigurationError("SQS needs a region: set AWS_DEFAULT_REGION") from None
    except (exceptions.ProfileNotFound, exceptions.InvalidConfigError, exceptions.ConfigParseError) as error:
        raise ConfigurationError(f"the configuration of SQS cannot be used: {plain(str(error), 300)}") from None
    except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError) as error:
        raise ConfigurationError(
            f"SQS has no credentials to ask with: {plain(str(error), 300)}; set AWS_ACCESS_KEY_ID"
        ) from None
    except exceptions.ParamValidationError as error:
        raise SchemaInvalid(f"SQS does not take this: {plain(str(error), 300)}") from None
    except (exceptions.BotoCoreError, OSError) as error:
        raise Transient(f"SQS could not be reached: {type(error).__name__}: {plain(str(error), 300)}") from None


def category(response: dict[str, Any]) -> OperationError:
    """By AWS's own word: it uses statuses loosely."""
    code = str(response.get("Error", {}).get("Code", ""))
    status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500))
    message = f"SQS answered {code or status}: {plain(str(response.get('Error', {}).get('Message', '')), 300)}"
    if code in _GONE or code.endswith("QueueDoesNotExist"):
        return Fatal(message, remedy="check the queue's address, region and account, or create the queue")
    if code.startswith(_SLOW_DOWN) or status == 429:
        return RateLimited(message, retry_after=5)
    if code.startswith(_DENIED) or status in (401, 403):
        return Fatal(message, remedy="check the AWS credentials, their policies and this machine's clock")
    return Transient(message) if status >= 500 or status == 408 else SchemaInvalid(message)
