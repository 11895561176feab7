"""Sarvam's batch speech-to-text. Its protocol can have every fault."""

from tests.providers.cases import MemoryFiles
from towpath.providers import Input, Order
from towpath.providers.sarvam import SarvamSpeech
from towpath.providers.simulator.sarvam import KEY, SarvamSimulator

CALLBACK_TOKEN = "secret-token-of-callbacks"


def simulator() -> SarvamSimulator:
    return SarvamSimulator()


def adapter(simulator: SarvamSimulator) -> SarvamSpeech:
    return SarvamSpeech(key=KEY, endpoint=simulator.url, callback_token=CALLBACK_TOKEN, timeout=20)


def order(files: MemoryFiles, key: str, count: int) -> Order:
    for number in range(count):
        files.blobs[f"{key}/{number}"] = b"RIFF" * (number + 1)
    inputs = tuple(Input(f"r{number}", f"file{number}.wav", blob=f"{key}/{number}") for number in range(count))
    return Order(key, "transcription", "saaras:v3", inputs=inputs, count=count, options={"locale": "en-IN"})
