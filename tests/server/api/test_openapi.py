"""The OpenAPI document is complete, and the copy that the UI's types are made from is up to date."""

import re
from functools import cache
from pathlib import Path

from tests.docs.tables import bare, table_with
from tests.server import reference
from towpath import App
from towpath.server import attach, openapi

ROOT = Path(__file__).parents[3]
METHODS = {"get", "put", "post", "delete", "patch"}


document = cache(openapi.document)


def operations():
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            assert method in METHODS, f"{method} {path}"
            yield method, path, operation


def test_the_copy_in_web_is_up_to_date():
    written = (ROOT / openapi.DOCUMENT).read_text("utf-8")
    assert written == openapi.text(), "it is not; run: python -m towpath.server.openapi"


def test_the_reference_in_the_docs_is_up_to_date():
    assert reference.PAGE.read_text("utf-8") == reference.page(), "it is not; run: python -m tests.server.reference"


def test_every_operation_has_a_name_of_its_own_a_tag_and_a_summary():
    names = [operation["operationId"] for _, _, operation in operations()]
    assert len(names) == len(set(names))
    assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)+", name)] == []
    assert [
        f"{m} {p}" for m, p, operation in operations() if not operation.get("tags") or not operation.get("summary")
    ] == []


def test_every_refusal_is_documented_as_a_problem():
    for method, path, operation in operations():
        answers = operation["responses"]
        assert {"500", "503", "422"} <= set(answers), f"{method} {path}"
        if "{" in path and path.startswith("/api"):
            assert "404" in answers, f"{method} {path}"
        if operation.get("security"):
            assert {"401", "403"} <= set(answers), f"{method} {path}"
        for status, answer in answers.items():
            if int(status) >= 400:
                assert list(answer["content"]) == ["application/problem+json"], f"{method} {path} {status}"


def test_requests_refuse_what_they_do_not_know():
    schemas = document()["components"]["schemas"]
    for method, path, operation in operations():
        for media in operation.get("requestBody", {}).get("content", {}).values():
            for name in re.findall(r"#/components/schemas/(\w+)", str(media["schema"])):
                assert schemas[name].get("additionalProperties") is not True, f"{method} {path}"
                assert "additionalProperties" in schemas[name] or "anyOf" in schemas[name], f"{method} {path}: {name}"


def test_every_message_of_the_stream_is_described():
    app = attach(App("sqlite:///unused.db"))
    sent = {"job", "deleted", "reset"} | {f"{kind}{end}" for kind in app.projections for end in ("", ".deleted")}
    messages = document()["paths"]["/api/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]["x-messages"]
    schemas = [document()["components"]["schemas"][one["$ref"].rsplit("/", 1)[1]] for one in messages["anyOf"]]
    assert {re.match(r"`event: ([a-z._]+)`", schema["description"])[1] for schema in schemas} == sent
    rows = table_with(ROOT / "docs/how-to/listen-to-events.md", "event", "meaning")
    assert {bare(row["event"]) for row in rows} == sent


def test_it_does_not_depend_on_the_app():
    assert "greet" not in openapi.text()
