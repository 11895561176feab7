"""Questions: ask one, and look how far its answer is. A question is a job like any other; its result is the answer."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any

from fastapi import Path, Query, Request, Response

from towpath import App, Job, JobCancelled, JobFailed, JobNotFound, ResultTimeout, State, choices, search
from towpath.http.audit import audit
from towpath.http.policy import Reader, Writer
from towpath.http.problems import Problem, invalid, not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.identity.principal import Principal
from towpath.knowledge import schemas
from towpath.knowledge.asking import Asked, no_chat
from towpath.knowledge.names import ASK
from towpath.knowledge.scope import Scope
from towpath.knowledge.search_routes import need_index

router = Router(prefix="/api/documents/ask", tags=["knowledge"])
QuestionPath = Annotated[str, Path(description="The question's id.")]

_STATUS: dict[State, Any] = {
    State.QUEUED: "waiting", State.RUNNING: "answering", State.WAITING: "waiting", State.SUCCEEDED: "done",
    State.PARTIAL: "done", State.FAILED: "failed", State.CANCELLED: "cancelled",
}  # fmt: skip
_ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {"model": schemas.Answered, "description": "It is not done yet; GET it by its id."}
}


@router.post("", operation_id="ask_documents", responses=_ACCEPTED | responses(404, 409))
async def ask_documents(
    principal: Writer, app: Engine, request: Request, response: Response, asked: schemas.NewQuestion
) -> schemas.Answered:
    """Answers a question from documents and recordings; every sentence names the passages that it rests on.

    409 if no chat service is configured, and 404 if it is about one document or recording of which nothing is in the index.
    """
    need_index()
    question = Asked(**asked.model_dump(exclude={"wait"}))
    await _check(app, principal.tenant, question)
    if not (await choices.settings_of(app)).chat_url:
        error = no_chat()
        raise Problem("conflict", 409, str(error), remedy=error.remedy)
    job = await app.enqueue(ASK, question, tenant=principal.tenant, subject=_subject(question.scope))
    audit(request, "documents.ask", job.id)
    if asked.wait:
        with suppress(ResultTimeout, JobFailed, JobCancelled):  # what became of it is told below
            await app.result(job.id, timeout=asked.wait)
    found = await _answered(app, await app.get(job.id))
    response.status_code = 202 if found.status in ("waiting", "answering") else 200
    return found


@router.get("", operation_id="can_ask")
async def can_ask(_principal: Reader, app: Engine) -> schemas.Asking:
    """Whether questions are answered here, by which model, or what to do about it."""
    settings = await choices.settings_of(app)
    there = bool(settings.chat_url)
    return schemas.Asking(model=settings.chat_model if there else None, remedy=None if there else no_chat().remedy)


@router.get("/earlier", operation_id="list_questions")
async def list_questions(
    principal: Reader, app: Engine, asked: Annotated[schemas.AskedAbout, Query()]
) -> list[schemas.Answered]:
    """What was asked about one document or recording, the newest first, as long as its jobs are kept."""
    source = Scope(document_id=asked.document_id, recording_id=asked.recording_id).source
    if source is None:
        raise invalid("recording_id", "name the document or the recording that was asked about")
    kind, source_id = source
    jobs = await app.list(subject=(search.questions_about(kind), source_id), limit=asked.limit)
    return [await _answered(app, job) for job in jobs if principal.admin or job.tenant == principal.tenant]


@router.get("/{question_id}", operation_id="get_answer", responses=responses(404))
async def get_answer(principal: Reader, app: Engine, question_id: QuestionPath) -> schemas.Answered:
    """How far a question is, and its answer."""
    return await _answered(app, await _own_question(app, principal, question_id))


async def _check(app: App, tenant: str, question: Asked) -> None:
    """What is asked about has to be there, and in the index: nothing is paid for a question about nothing."""
    question.scope.filter()
    source = question.scope.source
    if source is not None and not await search.has(app, tenant, *source):
        kind, source_id = source
        raise not_found(f"no {kind} has the id {source_id!r}, or nothing of it is in the index yet")


def _subject(scope: Scope) -> tuple[str, str] | None:
    """Of a question about one thing, so that it can be found beside that, and goes with it."""
    return None if scope.source is None else (search.questions_about(scope.source[0]), scope.source[1])


async def _own_question(app: App, principal: Principal, question_id: str) -> Job:
    missing = not_found(f"no question has the id {question_id[:100]!r}; it may have been deleted or pruned")
    try:
        job = await app.get(question_id)
    except JobNotFound:
        raise missing from None
    if job.operation != ASK or not (principal.admin or job.tenant == principal.tenant):
        raise missing
    return job


async def _answered(app: App, job: Job) -> schemas.Answered:
    asked: dict[str, Any] = await app.payload(job.id)
    done = job.state in (State.SUCCEEDED, State.PARTIAL)
    result: dict[str, Any] = await app.result(job.id) if done else {}
    error = schemas.QuestionError(message=job.error["message"], remedy=job.error.get("remedy")) if job.error else None
    return schemas.Answered(
        id=job.id, status=_STATUS[job.state], question=asked["question"],
        sentences=result.get("sentences", []), passages=result.get("passages", []), left_out=result.get("left_out", []),
        note=result.get("note"), model=result.get("model"), tokens_in=result.get("tokens_in"),
        tokens_out=result.get("tokens_out"), cost_cents=result.get("cost_cents"),
        waiting_for=(await app.explain(job.id)).sentence if job.live else None,
        error=error if job.state is State.FAILED else None, created_at=job.created_at,
    )  # fmt: skip
