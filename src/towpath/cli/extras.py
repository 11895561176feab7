"""What is installed only with an extra. A command that needs it says so before it begins, for all of it at once."""

from __future__ import annotations

from importlib.util import find_spec

from towpath.core.errors import ConfigurationError

EXTRAS: dict[str, dict[str, str]] = {
    "server": {
        "authlib": "authlib", "cryptography": "cryptography", "fastapi": "fastapi", "httpx": "httpx", "joserfc": "joserfc",
        "opentelemetry-api": "opentelemetry.trace", "opentelemetry-exporter-otlp-proto-http": "opentelemetry.exporter.otlp",
        "opentelemetry-sdk": "opentelemetry.sdk", "prometheus-client": "prometheus_client",
        "python-multipart": "python_multipart", "pwdlib": "pwdlib", "uvicorn": "uvicorn",
    },
    "local": {
        "av": "av", "httpx": "httpx", "moonshine-voice": "moonshine_voice", "py3langid": "py3langid",
        "snowballstemmer": "snowballstemmer", "webrtcvad-wheels": "webrtcvad", "wordllama": "wordllama",
    },
    "documents": {"onnxruntime": "onnxruntime", "pypdfium2": "pypdfium2", "rapidocr": "rapidocr", "xberg": "xberg"},
    "export": {"fpdf2": "fpdf", "pymupdf-fonts": "pymupdf_fonts", "python-docx": "docx", "uharfbuzz": "uharfbuzz"},
    "anthropic": {"anthropic": "anthropic"},
    "aws": {"boto3": "boto3", "httpx": "httpx", "obstore": "obstore"},
    "azure": {"httpx": "httpx", "obstore": "obstore"},
    "google": {"google-cloud-speech": "google.cloud.speech_v2", "google-genai": "google.genai", "obstore": "obstore"},
    "mcp": {"mcp": "mcp"},
    "openai": {"openai": "openai"},
    "rabbitmq": {"aio-pika": "aio_pika"},
    "sarvam": {"sarvamai": "sarvamai"},
    "sqs": {"boto3": "boto3"},
}  # fmt: skip
EXTRAS["mcp"] |= EXTRAS["server"]
"""By extra: its packages, and the module by which one sees that a package is there."""

_FOR = {
    "server": "for the server",
    "local": "to transcribe on this machine",
    "documents": "to read documents",
    "mcp": "to speak with assistants",
    "export": "to write Word and PDF files",
}


def need(extra: str, *, useful: tuple[str, ...] = ()) -> None:
    """Refuses where something of an extra is missing, and names all of it; extras that would be `useful` besides are
    named too, so that nobody installs twice."""
    missing = missing_of(extra)
    if not missing:
        return
    besides = [other for other in useful if missing_of(other)]
    also = "".join(f"; {_FOR[other]} as well: {how_to_install(extra, other)}" for other in besides)
    raise ConfigurationError(
        f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed, and needed {_FOR[extra]}: "
        f"{how_to_install(extra)}{also}"
    )


def missing_of(extra: str) -> list[str]:
    return [package for package, module in EXTRAS[extra].items() if not _is_there(module)]


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:  # so says a module inside of a package that is missing
        return False


def how_to_install(*extras: str) -> str:
    return f"pip install 'towpath[{','.join(extras)}]'"
