"""What a simulated job of Azure's leaves behind: a transcript for each file that went well, and the report of all."""

from __future__ import annotations

import json
from typing import Any

from towpath.providers.simulator.azure_models import Report
from towpath.providers.simulator.jobs import SimulatedJob


def contents(job: SimulatedJob) -> dict[str, bytes]:
    urls = [str(url) for url in job.request.content_urls]
    made: dict[str, Any] = {f"contenturl_{n}.json": _transcript(url) for n, url in enumerate(urls) if not job.fails(n)}
    failed = [job.fails(number) for number in range(len(urls))]
    wrong = {"status": "Failed", "errorKind": "InvalidData", "errorMessage": "The audio file cannot be read."}
    details = [{"source": url} | (wrong if bad else {"status": "Succeeded"}) for url, bad in zip(urls, failed, strict=True)]
    report = {
        "successfulTranscriptionsCount": failed.count(False),
        "failedTranscriptionsCount": failed.count(True),
        "details": details,
    }
    made["report.json"] = Report.model_validate(report).body()
    return {name: json.dumps(value).encode() for name, value in made.items()}


def _transcript(url: str) -> dict[str, Any]:
    text = f"This is {url.partition('?')[0].rpartition('/')[2]}"
    best = {"confidence": 0.9, "lexical": text.lower(), "itn": text, "maskedITN": text, "display": f"{text}."}
    return {
        "source": url,
        "timestamp": "2026-01-01T00:00:00Z",
        "durationMilliseconds": 2580,
        "combinedRecognizedPhrases": [{"channel": 0, **{k: best[k] for k in ("lexical", "itn", "maskedITN", "display")}}],
        "recognizedPhrases": [{"recognitionStatus": "Success", "channel": 0, "offset": "PT0.76S", "nBest": [best]}],
    }
