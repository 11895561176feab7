"""Ways to summarise: what there is, and what people write themselves."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request

from towpath import choices
from towpath.http.audit import audit
from towpath.http.policy import Reader, Writer
from towpath.http.problems import not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.recordings import schemas, templates

router = Router(prefix="/api/recordings/templates", tags=["recordings"])

TemplatePath = Annotated[str, Path(description="The template's id.", max_length=100)]


@router.get("", operation_id="list_templates")
async def list_templates(principal: Reader, app: Engine) -> schemas.Templates:
    """Ways to summarise, those that come along first; and whether a chat service is there to follow them."""
    found = await templates.templates_of(app, principal.tenant)
    followed = bool((await choices.settings_of(app)).chat_url)
    return schemas.Templates(items=[_shape(one) for one in found], followed=followed)


@router.post("", status_code=201, operation_id="create_template", responses=responses(409))
async def create_template(
    principal: Writer, app: Engine, request: Request, asked: schemas.TemplateText
) -> schemas.SummaryTemplate:
    """A template of one's own, for everybody in the tenant."""
    made = await templates.add(app, principal.tenant, asked.name, asked.prompt, principal.account_id)
    audit(request, "template.create", made.id, tenant=principal.tenant)
    return _shape(made)


@router.put("/{template_id}", operation_id="update_template", responses=responses(404, 409))
async def update_template(
    principal: Writer, app: Engine, request: Request, template_id: TemplatePath, asked: schemas.TemplateText
) -> schemas.SummaryTemplate:
    """Another name, another prompt. Summaries that there are stay; the next ones follow it."""
    try:
        changed = await templates.change(app, principal.tenant, template_id.lower(), asked.name, asked.prompt)
    except templates.TemplateNotFound as error:
        raise not_found(str(error)) from None
    audit(request, "template.update", changed.id, tenant=principal.tenant)
    return _shape(changed)


@router.delete("/{template_id}", status_code=204, operation_id="delete_template", responses=responses(404))
async def delete_template(principal: Writer, app: Engine, request: Request, template_id: TemplatePath) -> None:
    """Whatever was to be summarised by it is summarised in the usual way."""
    try:
        gone = await templates.remove(app, principal.tenant, template_id.lower())
    except templates.TemplateNotFound as error:
        raise not_found(str(error)) from None
    audit(request, "template.delete", gone.id, tenant=principal.tenant)


def _shape(one: templates.Template) -> schemas.SummaryTemplate:
    return schemas.SummaryTemplate(id=one.id, name=one.name, prompt=one.prompt, own=one.own)
