"""Every operation of the API with generated data, good and bad: no 5xx, no undocumented status, no answer of another shape.

A quick look with every run of the tests; SCHEMATHESIS_EXAMPLES=500 takes a long one.
"""

import os

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks
from schemathesis.generation import GenerationMode

from tests.server.api.live import Live, live_server
from towpath.server import openapi

EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "6"))
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
    checks.negative_data_rejection,
]

schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
schema = schemathesis.openapi.from_dict(openapi.document())
schema.config.generation.update(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
schema.config.phases.coverage.enabled = EXAMPLES > 50


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("schemathesis")
    with live_server(f"sqlite:///{folder}/jobs.db", folder) as live:
        yield live


@pytest.mark.parametrize("person", ["root", "ann"])
@schema.parametrize()
@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES < 50, suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)  # fmt: skip
def test_no_operation_breaks_its_promises(case: schemathesis.Case, live: Live, person: str):
    if "id" in case.path_parameters and case.operation.path.startswith("/api/jobs/"):
        number = hash(str(case.path_parameters["id"])) % (len(live.jobs) + 2)
        case.path_parameters["id"] = live.jobs[number] if number < len(live.jobs) else case.path_parameters["id"]
    if len(case.as_curl_command()) > 32_000:
        return  # no server reads a request line of that length
    response = case.call(base_url=live.url, headers=live.headers(person), timeout=30)
    # The schema of a stream of messages is the schema of each of them, which the tests of the stream look at.
    unfit = [checks.response_schema_conformance] if case.operation.path == "/api/events" else []
    case.validate_response(response, checks=[check for check in CHECKS if check not in unfit])
