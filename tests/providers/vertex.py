"""Vertex AI for the contract suite, with a Cloud Storage that obstore speaks to.

What it cannot have:
- expired_url: results are objects of one's own bucket; there are no links.
"""

from __future__ import annotations

from dataclasses import replace

from google.oauth2.credentials import Credentials

from tests.providers import google_library as _first  # noqa: F401 (before what it says)
from tests.providers.cases import MemoryFiles, completion
from towpath.providers import Order, Provider
from towpath.providers.google_objects import GoogleObjects
from towpath.providers.simulator import Simulator
from towpath.providers.simulator.cloud_storage import PREFIX
from towpath.providers.simulator.vertex import TOKEN, VertexSimulator
from towpath.providers.vertex import Vertex

OUTPUT = "gs://our-bucket/batches/"


def simulator() -> Simulator:
    return VertexSimulator()


def adapter(simulator: Simulator) -> Provider:
    return Vertex(
        project="our-project",
        location="europe-west4",
        credentials=Credentials(token=TOKEN),
        base_url=simulator.url,
        bucket=GoogleObjects(base_url=f"{simulator.url}{PREFIX}", bearer_token=TOKEN, client_options={"allow_http": True}),
    )


def order(files: MemoryFiles, key: str, count: int) -> Order:
    made = completion(
        files,
        key,
        count,
        "gemini-3.8-flash",
        lambda number: {"messages": [{"role": "user", "content": f"question {number}"}], "max_tokens": 64},
    )
    return replace(made, output=OUTPUT)
