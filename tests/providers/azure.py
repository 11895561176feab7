"""Azure's batch transcription. Its protocol can have every fault."""

from tests.providers.cases import MemoryFiles, transcription
from towpath.providers import Order
from towpath.providers.azure import AzureSpeech
from towpath.providers.simulator.azure import KEY, AzureSimulator

WEBHOOK_SECRET = "secret-of-the-webhook"


def simulator() -> AzureSimulator:
    return AzureSimulator()


def adapter(simulator: AzureSimulator) -> AzureSpeech:
    return AzureSpeech(endpoint=simulator.url, key=KEY, webhook_secret=WEBHOOK_SECRET, timeout=20)


def order(files: MemoryFiles, key: str, count: int) -> Order:
    return transcription(key, count, "", lambda number: f"https://files.example/{key}/file{number}.wav?sv=1&sig=abc{number}")
