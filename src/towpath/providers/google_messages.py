"""Messages of google-cloud-speech: how an order is written, and what an operation says."""

from __future__ import annotations

from typing import Any

from towpath.providers.contract import Order
from towpath.providers.speech_options import speech_options


def batch_request(order: Order, recognizer: str) -> Any:
    from google.cloud.speech_v2.types import cloud_speech

    wanted = speech_options(order)
    features = cloud_speech.RecognitionFeatures(enable_word_time_offsets=wanted.words)
    if wanted.speakers is not None:
        features.diarization_config = cloud_speech.SpeakerDiarizationConfig(max_speaker_count=wanted.speakers)
    config = cloud_speech.RecognitionConfig(
        auto_decoding_config=cloud_speech.AutoDetectDecodingConfig(),
        language_codes=[wanted.locale] if wanted.locale else [],
        model=order.model,
        features=features,
    )
    strategies = cloud_speech.BatchRecognizeRequest.ProcessingStrategy
    return cloud_speech.BatchRecognizeRequest(
        recognizer=recognizer,
        config=config,
        files=[cloud_speech.BatchRecognizeFileMetadata(uri=given.uri) for given in order.inputs],
        recognition_output_config=cloud_speech.RecognitionOutputConfig(
            gcs_output_config=cloud_speech.GcsOutputConfig(uri=folder_of(order))
        ),
        processing_strategy=strategies.DYNAMIC_BATCHING if order.options.get("window") else None,
    )


def folder_of(order: Order) -> str:
    """Of this order alone: the key is in it, so that its operation can be told from any other."""
    return f"{(order.output or '').rstrip('/')}/{order.key}/"


def writes_to(metadata: Any, folder: str) -> bool:
    """By the request as it was sent, or by where its files are being written to."""
    request, progress = metadata.batch_recognize_request, metadata.batch_recognize_metadata.transcription_metadata
    if request.recognition_output_config.gcs_output_config.uri == folder:
        return True
    return any(file.uri.startswith(folder) for file in progress.values())


def says_where(metadata: Any) -> bool:
    """Whether it is known what the operation is, and, if it recognizes speech, where its results go."""
    kind = type(metadata).pb(metadata).WhichOneof("request")
    return kind is not None or bool(metadata.batch_recognize_metadata.transcription_metadata)


def metadata_of(operation: Any) -> Any:
    from google.cloud.speech_v2.types import cloud_speech

    return _unpacked(operation.metadata, cloud_speech.OperationMetadata)


def response_of(operation: Any) -> Any:
    from google.cloud.speech_v2.types import cloud_speech

    return _unpacked(operation.response, cloud_speech.BatchRecognizeResponse)


def _unpacked(packed: Any, kind: Any) -> Any:
    """An empty message, if something else is in it."""
    message = kind()
    packed.Unpack(kind.pb(message))
    return message


def status_of(operation: Any) -> str:
    if not operation.done:
        return "RUNNING"
    return code_name(operation.error.code) if operation.WhichOneof("result") == "error" else "DONE"


def code_name(number: int) -> str:
    from google.rpc.code_pb2 import Code

    return str(Code.Name(number)) if number in Code.values() else str(number)
