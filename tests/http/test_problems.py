"""Errors as problem documents: the same shape for everything, nothing in them that is nobody's business."""

import logging

import pytest
from pydantic import BaseModel

import towpath
from tests.http.site import problem
from towpath.blobs import BlobNotFound, BlobStoreUnavailable
from towpath.core.errors import ConfigurationError
from towpath.http.policy import Anyone
from towpath.http.problems import Problem, conflict, invalid, not_found
from towpath.http.routing import Router
from towpath.identity.errors import AccountConflict, AccountNotFound, LoginRefused, ProviderUnavailable, Throttled

RAISED: dict[str, Exception] = {}


class Body(BaseModel):
    model_config = {"extra": "forbid"}
    number: int
    inner: dict[str, list[int]] = {}


@pytest.fixture
async def failing(site):
    """A site with a route that raises what it is told to."""
    router = Router(prefix="/api/failing")

    @router.get("/{name}")
    async def fail(_anyone: Anyone, name: str) -> None:
        raise RAISED[name]

    @router.post("")
    async def take(_anyone: Anyone, body: Body, limit: int = 1) -> int:
        return body.number * limit

    site.api.include_router(router)
    site.api.router.routes.insert(0, site.api.router.routes.pop())
    return site


def caused(error):
    error.__cause__ = OSError("below")
    return error


EXPECTED = [
    (towpath.QueueNotFound("mials", ["mails"]), 404, "not_found", None),
    (towpath.ScheduleNotFound("nigthly", ["nightly"]), 404, "not_found", "no schedule is named 'nigthly'"),
    (towpath.NameTaken("it is taken"), 409, "conflict", "it is taken"),
    (not_found("no such barge"), 404, "not_found", "no such barge"),
    (conflict("it moves", remedy="wait"), 409, "conflict", "it moves"),
    (invalid("limit", "is too much"), 422, "invalid", "limit: is too much"),
    (towpath.JobNotFound("no job has this id"), 404, "not_found", "no job has this id"),
    (towpath.UnknownOperation("no such operation"), 404, "not_found", "no such operation"),
    (towpath.NotRequeueable("it runs"), 409, "conflict", "it runs"),
    (towpath.SchemaInvalid("is no number", path="pages.0"), 422, "invalid", "pages.0: is no number"),
    (towpath.EncodingError("NaN has no JSON form"), 422, "invalid", "NaN has no JSON form"),
    (towpath.PayloadTooLarge("17 MB"), 413, "too_large", "17 MB"),
    (ConfigurationError("a queue's name must be plain"), 422, "invalid", "a queue's name must be plain"),
    (caused(ConfigurationError("postgresql://u:pw@host")), 500, "internal", None),
    (towpath.StoreUnavailable("postgresql://u:pw@host is away"), 503, "unavailable", None),
    (BlobStoreUnavailable("/srv/blobs: disk full"), 503, "unavailable", None),
    (BlobNotFound("jobs/1/payload"), 404, "not_found", "what was stored here is gone"),
    (AccountNotFound("no such account"), 404, "not_found", "no such account"),
    (AccountConflict("taken"), 409, "conflict", "taken"),
    (LoginRefused("wrong"), 401, "login_refused", "wrong"),
    (Throttled(3.2), 429, "throttled", None),
    (ProviderUnavailable("it is away"), 503, "unavailable", "it is away"),
    (ZeroDivisionError("secret number"), 500, "internal", None),
]


@pytest.mark.parametrize(("error", "status", "slug", "detail"), EXPECTED, ids=lambda value: type(value).__name__)
async def test_an_error_becomes_its_problem(failing, error, status, slug, detail):
    RAISED["it"] = error
    document = problem(await failing.program().get("/api/failing/it"), status, slug)
    assert detail in (None, document["detail"])
    assert not {"pw@host", "secret number", "/srv/blobs", "Traceback"} & set(str(document).split())


async def test_every_public_error_of_the_engine_is_expected_or_stays_inside_a_worker():
    inside = {
        "ChildrenFailed", "Fatal", "HistoryMismatch", "JobCancelled", "JobFailed", "LeaseLost", "RateLimited",
        "ResultTimeout", "RetryLater", "StepNameReused", "StreamReset", "TowpathError", "Transient", "WaitRefused",
        "WaitTimeout",
    }  # fmt: skip
    public = {name for name in towpath.__all__ if isinstance(getattr(towpath, name), type) and name[0].isupper()}
    errors = {name for name in public if issubclass(getattr(towpath, name), towpath.TowpathError)}
    assert errors - inside == {type(error).__name__ for error, *_ in EXPECTED} & errors


async def test_what_nobody_expected_is_logged_under_the_id_that_the_answer_has(failing, caplog):
    RAISED["it"] = ZeroDivisionError("secret number")
    answer = await failing.program().get("/api/failing/it?")
    document = problem(answer, 500, "internal")
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert document["instance"] in record.message
    assert document["instance"] in document["remedy"]
    assert record.exc_info[0] is ZeroDivisionError
    assert "secret" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_database_that_is_away_says_when_to_try_again(failing):
    RAISED["it"] = towpath.StoreUnavailable("away")
    assert (await failing.program().get("/api/failing/it")).headers["retry-after"] == "2"


async def test_what_does_not_fit_is_told_part_by_part_without_what_was_given(failing):
    asked = {"number": "hunter2", "inner": {"a": [1, "hunter2"]}, "extra": "hunter2"}
    answer = await failing.program().post("/api/failing?limit=hunter2", json=asked)
    document = problem(answer, 422, "invalid")
    assert {item["path"] for item in document["errors"]} == {"limit", "number", "inner.a.1", "extra"}
    assert "hunter2" not in answer.text


@pytest.mark.parametrize("body", [b"{", b"", b"\xff", b"[" * 60_000, b'{"number": 1e999}', b'{"number": NaN}'])
async def test_a_body_that_is_no_json_is_refused(failing, body):
    answer = await failing.program().post("/api/failing", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    problem(answer, answer.status_code, "invalid")


async def test_an_address_or_method_nobody_has_is_a_problem_too(site):
    problem(await site.program().get("/api/nothing"), 404, "not_found")
    for method, path, allowed in (
        ("PUT", "/api/session", "DELETE, GET, POST"),
        ("GET", "/api/session/link", "POST"),
        ("OPTIONS", "/api/users/0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60", "DELETE, PATCH"),
    ):
        answer = await site.program().request(method, path)
        problem(answer, 405, "invalid")
        assert answer.headers["allow"] == allowed


async def test_the_openapi_has_every_status_as_a_problem(site):
    document = site.api.openapi()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            statuses = {status for status in operation["responses"] if int(status) >= 400}
            assert {"400", "422", "500", "503"} <= statuses, (method, path)
            assert "security" not in operation or {"401", "403"} <= statuses, (method, path)
            assert method == "get" or {"403", "413", "415"} <= statuses, (method, path)
            for status in statuses:
                content = operation["responses"][status]["content"]
                assert list(content) == ["application/problem+json"], (method, path, status)
    assert "ProblemDocument" in document["components"]["schemas"]
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_a_problem_has_the_title_of_its_status_unless_it_is_given_one():
    assert Problem("conflict", 409, "x").title == "This does not fit the present state"
    assert Problem("conflict", 409, "x", title="Too late").title == "Too late"
