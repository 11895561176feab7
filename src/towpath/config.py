"""Settings. This is the only file that reads the environment."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from towpath.core.errors import ConfigurationError
from towpath.core.naming import meant

_IN_FILE = "_FILE"
"""Behind the name of any setting: its value is in the file of this name, as secrets of containers and services are."""
DEFAULT_DATABASE_URL = "sqlite:///towpath.db"
_HARMLESS = frozenset({
    "BROWSER", "COLORTERM", "COLUMNS", "DISPLAY", "FORCE_COLOR", "HOME", "LANG", "LANGUAGE", "LINES", "LOGNAME", "NO_COLOR",
    "PATH", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV", "WAYLAND_DISPLAY",
})  # fmt: skip
_HARMLESS_KINDS = ("LC_", "PYTHON", "XDG_")


def _setting(default: object, what: str, *, secret: bool = False) -> object:
    return field(default=default, metadata={"what": what, "secret": secret}, repr=not secret)


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting. `Settings.load()` reads each from `TOWPATH_` + its name in capitals; `Settings()` reads nothing."""

    database_url: str = _setting(DEFAULT_DATABASE_URL, "Where jobs live: sqlite:///path or postgresql://…")  # type: ignore[assignment]
    blobs_url: str = _setting(
        "",
        "Where large values live: file:///dir or s3://, gs://, az://bucket/prefix. Empty: beside SQLite, or ./towpath-blobs",
    )  # type: ignore[assignment]
    transport: str = _setting(
        "database",
        "How workers hear of new jobs: database, amqp://user:password@host/vhost, sqs://region/prefix or pubsub://project/topic",
    )  # type: ignore[assignment]
    pubsub_push_account: str = _setting(
        "", "Pub/Sub: the service account that its push subscription signs as; empty: no push is believed"
    )  # type: ignore[assignment]
    pubsub_push_audience: str = _setting(
        "", "Pub/Sub: the audience of that subscription; empty: the address it pushes to, by TOWPATH_BASE_URL"
    )  # type: ignore[assignment]
    pubsub_push_issuer: str = _setting("https://accounts.google.com", "Pub/Sub: who signs the tokens of pushes")  # type: ignore[assignment]
    lease_seconds: float = _setting(
        30.0, "How long a worker may be silent before its jobs are rescued; renewed every third of it"
    )  # type: ignore[assignment]
    poll_seconds: float = _setting(1.0, "How often a worker looks for work when no doorbell rings")  # type: ignore[assignment]
    pool_size: int = _setting(10, "PostgreSQL connections per process, besides one each for the bell and the heartbeat")  # type: ignore[assignment]
    checkout_seconds: float = _setting(10.0, "How long a caller waits for a free connection before it is refused")  # type: ignore[assignment]
    drain_seconds: float = _setting(
        20.0, "How long a worker lets running jobs finish after SIGTERM before it hands them back"
    )  # type: ignore[assignment]
    max_payload_bytes: int = _setting(16 * 1024 * 1024, "Largest payload, step output or result; larger ones are refused")  # type: ignore[assignment]
    inline_bytes: int = _setting(64 * 1024, "Values above this size go to the blob store by themselves")  # type: ignore[assignment]
    keep_succeeded_days: float = _setting(30.0, "Prune succeeded and cancelled jobs after this many days; 0: never")  # type: ignore[assignment]
    keep_failed_days: float = _setting(0.0, "Prune failed and partial jobs after this many days; 0: never")  # type: ignore[assignment]
    log_level: str = _setting("INFO", "Level of the worker's own log")  # type: ignore[assignment]
    log_json: bool = _setting(False, "Write the log as JSON lines instead of text")  # type: ignore[assignment]
    otel_endpoint: str = _setting(
        "", "Where traces go by OTLP over HTTP, such as http://localhost:4318; empty: nowhere, unless the program says"
    )  # type: ignore[assignment]
    otel_service: str = _setting("towpath", "The name traces carry")  # type: ignore[assignment]
    base_url: str = _setting("", "Where people reach the server, for the links it makes; empty: as their request says")  # type: ignore[assignment]
    base_path: str = _setting("", "Path the server is mounted at behind a proxy, such as /towpath")  # type: ignore[assignment]
    allowed_hosts: str = _setting(
        "", "Host names the server answers to, separated by commas; empty: loopback names in local mode, else any"
    )  # type: ignore[assignment]
    trusted_proxies: str = _setting(
        "", "Addresses or networks of proxies whose X-Forwarded headers are believed, separated by commas"
    )  # type: ignore[assignment]
    header_seconds: float = _setting(
        15.0, "A connection is closed that has not sent the head of a request by then; 0: never"
    )  # type: ignore[assignment]
    body_idle_seconds: float = _setting(
        60.0, "A connection is closed whose request's body has brought less than 1 KiB for so long; 0: never"
    )  # type: ignore[assignment]
    max_connections: int = _setting(1000, "Connections the server has at a time; one more is answered 503; 0: no limit")  # type: ignore[assignment]
    max_connections_per_address: int = _setting(
        100, "Connections from one address at a time, loopback and trusted proxies apart; 0: no limit"
    )  # type: ignore[assignment]
    session_idle_hours: float = _setting(72.0, "A browser's session ends after so many hours without a request")  # type: ignore[assignment]
    session_days: float = _setting(30.0, "A browser's session ends after so many days in any case")  # type: ignore[assignment]
    oidc_issuer: str = _setting("", "OpenID Connect: the provider's issuer URL; empty: people log in with passwords only")  # type: ignore[assignment]
    oidc_client_id: str = _setting("", "OpenID Connect: the id the provider knows this server by")  # type: ignore[assignment]
    oidc_client_secret: str = _setting("", "OpenID Connect: the secret that belongs to it", secret=True)  # type: ignore[assignment]
    oidc_allowed: str = _setting(
        "", "OpenID Connect: who may log in: an e-mail domain or claim=value; several are separated by commas"
    )  # type: ignore[assignment]
    oidc_tenant: str = _setting("default", "OpenID Connect: the tenant that new accounts join")  # type: ignore[assignment]
    allow_private_urls: bool = _setting(
        False,
        "Let webhooks call, and inputs be read from, http:// and loopback and private addresses; only where everybody is "
        "trusted",
    )  # type: ignore[assignment]
    input_buckets: str = _setting(
        "",
        "Where inputs may be read from with this installation's credentials: s3://bucket/folder, gs://…, az://…, separated "
        "by commas; {tenant} stands for the tenant's name; empty: nowhere",
    )  # type: ignore[assignment]
    secret_key: str = _setting(
        "",
        "What encrypts the keys that are entered in Settings → Models, at least 32 characters, the same for the server and "
        "all workers; empty: a file beside SQLite's database; PostgreSQL needs it",
        secret=True,
    )  # type: ignore[assignment]
    speech_engine: str = _setting(
        "", "Who hears: moonshine, faster_whisper or openai_compatible; empty: the endpoint if there is one, else moonshine"
    )  # type: ignore[assignment]
    speech_url: str = _setting(
        "", "Base URL of an OpenAI-compatible speech service, such as http://localhost:8000/v1; empty: this machine hears"
    )  # type: ignore[assignment]
    speech_key: str = _setting("", "The key that speech service asks for", secret=True)  # type: ignore[assignment]
    speech_model: str = _setting("", "Speech model by name or directory; empty: the engine's usual one")  # type: ignore[assignment]
    chat_url: str = _setting(
        "", "Base URL of an OpenAI-compatible chat service, such as http://localhost:8080/v1; empty: extractive summaries"
    )  # type: ignore[assignment]
    chat_key: str = _setting("", "The key that chat service asks for", secret=True)  # type: ignore[assignment]
    chat_model: str = _setting("", "The chat model's name as that service knows it")  # type: ignore[assignment]
    chat_chunk_characters: int = _setting(
        24_000, "Most text in one question to the chat model; longer transcripts are summarised in parts"
    )  # type: ignore[assignment]
    embed_url: str = _setting(
        "", "Base URL of an OpenAI-compatible embeddings service for search and documents; empty: the model on this machine"
    )  # type: ignore[assignment]
    embed_key: str = _setting("", "The key that embeddings service asks for", secret=True)  # type: ignore[assignment]
    embed_model: str = _setting("", "The embeddings model's name as that service knows it")  # type: ignore[assignment]
    model_timeout_seconds: float = _setting(
        120.0, "How long a speech, chat or embeddings service, or one that does a step of documents, may take for one answer"
    )  # type: ignore[assignment]
    models_dir: str = _setting("", "Where pulled models are kept; empty: .cache/towpath/models in the home directory")  # type: ignore[assignment]
    models_url: str = _setting("", "A mirror to pull models from, by the same paths; empty: where their makers publish them")  # type: ignore[assignment]
    extract_memory_mb: int = _setting(
        2048, "Memory that the process may have in which one document is read; pictures of text take 1200"
    )  # type: ignore[assignment]
    extract_total_mb: int = _setting(
        0, "Memory for all documents that one worker reads at a time; more of them wait; 0: half of what the machine has"
    )  # type: ignore[assignment]
    extract_seconds: float = _setting(300.0, "How long one document may be read, and again its pages that are pictures")  # type: ignore[assignment]
    extract_pages: int = _setting(5000, "Most pages of one document; one with more is refused")  # type: ignore[assignment]
    extract_ocr: bool = _setting(True, "Read pages and pictures that have no text of their own (OCR)")  # type: ignore[assignment]
    max_upload_bytes: int = _setting(5 * 1024**3, "Largest file that can be uploaded; 0: no limit")  # type: ignore[assignment]
    upload_quota_bytes: int = _setting(0, "How much the files of one tenant may take up together; 0: no limit")  # type: ignore[assignment]
    open_uploads_per_account: int = _setting(
        100, "Uploads that one account may have begun and not finished; one more is answered 429; 0: no limit"
    )  # type: ignore[assignment]
    keep_unfinished_uploads_hours: float = _setting(24.0, "Delete an upload that nobody has gone on with for so many hours")  # type: ignore[assignment]
    auto_summary: bool = _setting(
        True, "Summarise new recordings when they are transcribed, unless the upload says otherwise"
    )  # type: ignore[assignment]
    open_recordings_per_user: int = _setting(
        2, "How many recordings of one person are worked on at a time, oldest first; 0: no limit. Counts for new people"
    )  # type: ignore[assignment]
    max_recording_hours: float = _setting(12.0, "Longest recording that is transcribed; 0: no limit")  # type: ignore[assignment]
    decoded_quota_bytes: int = _setting(
        4 * 1024**3,
        "How much decoded audio a tenant may have while it is transcribed, 115 MB an hour; 0: no limit",
    )  # type: ignore[assignment]
    delete_failed_uploads: bool = _setting(
        False, "Delete an upload and its audio when it fails for good; never one that has a transcript"
    )  # type: ignore[assignment]
    keep_recordings_days: float = _setting(
        0.0, "Delete recordings with their audio and transcripts after this many days; 0: never"
    )  # type: ignore[assignment]

    staging_url: str = _setting(
        "",
        "Where inputs are copied to that a batch provider could not read otherwise, and where GOOGLE and VERTEX write: "
        "s3://, gs:// or az://bucket/folder; empty: the blob store, if it is in such a bucket",
    )  # type: ignore[assignment]
    poll_interval_seconds: float = _setting(120.0, "The longest time between two looks at a job of a batch provider")  # type: ignore[assignment]
    task_timeout_hours: float = _setting(26.0, "A job that a batch provider has not ended by then has failed")  # type: ignore[assignment]
    provider_call_seconds: float = _setting(60.0, "How long one call to a batch provider may take")  # type: ignore[assignment]
    resubmit_unknown: bool = _setting(
        False,
        "Send an order again if its provider cannot say whether it has it; it may then be paid for twice",
    )  # type: ignore[assignment]

    azure_speech_endpoint: str = _setting(
        "", "AZURE: the endpoint of the Speech resource, such as https://westeurope.api.cognitive.microsoft.com"
    )  # type: ignore[assignment]
    azure_speech_key: str = _setting("", "AZURE: a key of that resource", secret=True)  # type: ignore[assignment]
    azure_webhook_secret: str = _setting(
        "", "AZURE: the secret that its webhook was registered with; empty: no notice of it is believed", secret=True
    )  # type: ignore[assignment]
    openai_compatible_url: str = _setting("", "OPENAI_COMPATIBLE: where it is, such as https://api.example.com/v1")  # type: ignore[assignment]
    openai_compatible_key: str = _setting("", "OPENAI_COMPATIBLE: the key it asks for", secret=True)  # type: ignore[assignment]
    openai_compatible_webhook_secret: str = _setting(
        "", "OPENAI_COMPATIBLE: the secret of its webhook; empty: no notice of it is believed", secret=True
    )  # type: ignore[assignment]
    gemini_webhook_secret: str = _setting(
        "", "GEMINI: the secret of the project's webhook; empty: no notice of it is believed", secret=True
    )  # type: ignore[assignment]
    google_speech_location: str = _setting("", "GOOGLE: where it hears, such as eu or us-central1; empty: global")  # type: ignore[assignment]
    sarvam_callback_token: str = _setting(
        "",
        "SARVAM: a secret of your own by which its calls are known; with it and TOWPATH_BASE_URL it tells when a job has "
        "ended",
        secret=True,
    )  # type: ignore[assignment]

    gather_requests: int = _setting(
        500,
        "Requests sent one by one go out as a batch when there are so many of one tenant, provider, model and window; 0: no "
        "limit",
    )  # type: ignore[assignment]
    gather_bytes: int = _setting(4 * 1024 * 1024, "They also go out when they have so many bytes together; 0: no limit")  # type: ignore[assignment]
    gather_seconds: float = _setting(60.0, "They go out in any case when the first of them has waited so long")  # type: ignore[assignment]

    fleet_url_seconds: float = _setting(
        3600.0, "How long a signed URL that a remote worker gets opens its object; it is signed anew if need be"
    )  # type: ignore[assignment]
    fleet_ack_seconds: float = _setting(
        3600.0, "A task that was sent and that no remote worker has taken up by then is sent anew"
    )  # type: ignore[assignment]
    fleet_stuck_seconds: float = _setting(
        600.0, "A remote worker that sends no heartbeats is given up when it has said nothing for so long"
    )  # type: ignore[assignment]
    fleet_task_seconds: float = _setting(
        6 * 3600.0, "How long a remote worker may take for a task before it is given to another"
    )  # type: ignore[assignment]

    fleet_retry_seconds: float = _setting(
        5.0,
        "The longest first wait of a remote worker's task that has failed; twice as long each further time, to 5 minutes",
    )  # type: ignore[assignment]

    v1_provider: str = _setting(
        "LOCAL", "Who runs batches that come by OpenAI's API (/v1/batches): LOCAL or a batch provider"
    )  # type: ignore[assignment]

    @classmethod
    def load(cls, **given: Any) -> Settings:
        """What is given here, else what the environment says, else the default."""
        return load(**given)


def load(environ: dict[str, str] | None = None, **given: Any) -> Settings:
    """Settings from the environment but for those given; a value that does not fit is refused with its name."""
    source = os.environ if environ is None else environ
    known = {item.name: item for item in fields(Settings)}
    if unknown := sorted(set(given) - set(known)):
        hint = meant(unknown[0], known) or "towpath config lists them"
        raise ConfigurationError(f"there is no setting {unknown[0]!r}; {hint}")
    values: dict[str, object] = {}
    for item in known.values():
        name = f"TOWPATH_{item.name.upper()}"
        if item.name not in given and (text := _told(name, source)) is not None:
            values[item.name] = _parse(name, text, item.default)
    return Settings(**values, **given)  # type: ignore[arg-type]  # _parse returns the type of the default


def _told(name: str, source: Mapping[str, str]) -> str | None:
    """What the environment says of a setting, itself or by the name of a file, in which secrets are kept."""
    path = source.get(f"{name}{_IN_FILE}")
    if path is None:
        return source.get(name)
    if name in source:
        raise ConfigurationError(f"{name} and {name}{_IN_FILE} are both set; keep one of them")
    try:
        return Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{name}{_IN_FILE} names a file that cannot be read: {error}") from None


@contextmanager
def hidden_environment(**instead: str) -> Iterator[None]:
    """Within the block nobody in this process sees more of the environment than what programs need to run at all, and what
    is given here. So no library finds a credential, an endpoint or a proxy there that is meant for other work."""
    before = dict(os.environ)
    kept = {name: text for name, text in before.items() if name in _HARMLESS or name.startswith(_HARMLESS_KINDS)}
    os.environ.clear()
    os.environ.update(kept | instead)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def names_database(environ: dict[str, str] | None = None) -> bool:
    """Whether the environment says where jobs live, or leaves it to the default."""
    source = os.environ if environ is None else environ
    return "TOWPATH_DATABASE_URL" in source or f"TOWPATH_DATABASE_URL{_IN_FILE}" in source


def _parse(name: str, text: str, default: object) -> object:
    try:
        if isinstance(default, bool):
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.lower()]
        if isinstance(default, int | float):
            value = type(default)(text)
            if value < 0:
                raise ValueError
            return value
        return text
    except (KeyError, ValueError):
        kind = "true or false" if isinstance(default, bool) else "a number of zero or more"
        raise ConfigurationError(f"{name} must be {kind}, got {text!r}") from None


def sqlite_path(url: str) -> Path:
    """The file behind sqlite:///relative or sqlite:////absolute."""
    path = url.removeprefix("sqlite:///")
    if not path or path == ":memory:":
        raise ConfigurationError(
            f"{url} names no file; Towpath keeps jobs in a file that several processes can open, e.g. sqlite:///jobs.db"
        )
    return Path(path)


def blobs_beside(path: Path) -> Path:
    """The directory for large values of a SQLite file that no setting sends elsewhere."""
    return path.parent / f"{path.name}-blobs"


def documented() -> list[tuple[str, object, str]]:
    """(environment variable, default, meaning) of every setting, for the docs and `towpath doctor`."""
    return [(f"TOWPATH_{item.name.upper()}", item.default, item.metadata["what"]) for item in fields(Settings)]


def unknown(environ: dict[str, str] | None = None) -> list[str]:
    """Variables that look like settings and are none: most likely misspelt, and silently without effect."""
    source = os.environ if environ is None else environ
    known = {name for name, _, _ in documented()}
    return sorted(name for name in source if name.startswith("TOWPATH_") and name.removesuffix(_IN_FILE) not in known)


def secrets() -> frozenset[str]:
    """Settings (environment variables) whose values are never shown."""
    return frozenset(f"TOWPATH_{item.name.upper()}" for item in fields(Settings) if item.metadata["secret"])
