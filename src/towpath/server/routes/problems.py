"""Where the `type` of a problem document leads: a page for people about that kind of problem."""

from __future__ import annotations

import html
import re

from fastapi.responses import HTMLResponse

from towpath.http.policy import Anyone
from towpath.http.problem_kinds import KINDS
from towpath.http.problems import TITLES, not_found
from towpath.http.routing import Router

router = Router(prefix="/problems", include_in_schema=False)

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{name} · Towpath</title></head>
<body><h1><code>{name}</code></h1>
<p>{meaning}</p>
<h2>What to do</h2>
<p>{remedy}</p>
<h2>Status</h2>
<ul>{statuses}</ul>
</body></html>
"""


@router.get("/{slug}", operation_id="explain_problem", response_class=HTMLResponse)
async def explain_problem(_anyone: Anyone, slug: str) -> HTMLResponse:
    kind = next((kind for name, kind in KINDS.items() if name == slug), None)
    if kind is None:
        raise not_found("no problem of this server is of such a kind")
    statuses = "".join(f"<li>{status}: {html.escape(TITLES[status])}</li>" for status in kind.statuses)
    page = _PAGE.format(name=slug, meaning=_marked(kind.meaning), remedy=_marked(kind.remedy), statuses=statuses)
    return HTMLResponse(page, headers={"Cache-Control": "no-cache"})


def _marked(text: str) -> str:
    return re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(text))
