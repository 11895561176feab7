"""Amazon Transcribe, with its results in the service's bucket.

It cannot have `partial`: a job has one file.
"""

from tests.providers.cases import MemoryFiles, transcription
from towpath.providers import Order
from towpath.providers.aws import AwsTranscribe
from towpath.providers.simulator.aws import AwsSimulator
from towpath.providers.simulator.aws_wire import ACCESS_KEY, SECRET_KEY


def simulator() -> AwsSimulator:
    return AwsSimulator()


def adapter(simulator: AwsSimulator) -> AwsTranscribe:
    return AwsTranscribe(
        region="us-east-1", endpoint_url=simulator.url, access_key_id=ACCESS_KEY, secret_access_key=SECRET_KEY, timeout=20
    )


def order(files: MemoryFiles, key: str, count: int) -> Order:
    return transcription(key, count, "", lambda number: f"s3://recordings/{key}/file{number}.wav")
