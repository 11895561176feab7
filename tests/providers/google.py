"""Google's batch recognition.

It cannot have `unknown_status`: an operation is done or not, and has no other status. Nor `expired_url`: results are read
from Cloud Storage with credentials, not behind links.
"""

from dataclasses import replace

from tests.providers.cases import MemoryFiles, transcription
from towpath.providers import Order
from towpath.providers.google import GoogleSpeech
from towpath.providers.simulator.google import TOKEN, GoogleSimulator


def simulator() -> GoogleSimulator:
    return GoogleSimulator()


def adapter(simulator: GoogleSimulator, token: str = TOKEN) -> GoogleSpeech:
    from google.oauth2.credentials import Credentials

    return GoogleSpeech(
        project="simulated",
        endpoint=simulator.url,
        storage_endpoint=simulator.url,
        credentials=Credentials(token=token),
        timeout=20,
    )


def order(files: MemoryFiles, key: str, count: int) -> Order:
    asked = transcription(key, count, "long", lambda number: f"gs://recordings/{key}/file{number}.wav")
    return replace(asked, output="gs://mine/transcripts/")
