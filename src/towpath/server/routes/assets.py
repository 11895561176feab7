"""Files that were uploaded: what they are, how much room they take, and their content."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Request, Response

from towpath import assets
from towpath.engine.app import App
from towpath.http.contents import content_response
from towpath.http.policy import Reader, tenant_of
from towpath.http.problems import not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.identity.principal import Principal
from towpath.server.schemas.assets import Asset, AssetUsage
from towpath.server.schemas.base import Label

router = Router(prefix="/api/assets", tags=["assets"])

AssetPath = Annotated[str, Path(description="The asset's id.")]
_ANYTHING: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
_CONTENT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The whole file", "content": {"*/*": _ANYTHING}},
    206: {"description": "The range that was asked for", "content": {"*/*": _ANYTHING}},
    304: {"description": "The file is the one the client has"},
}


@router.get("/usage", operation_id="get_asset_usage")
async def get_asset_usage(
    principal: Reader,
    app: Engine,
    tenant: Annotated[Label | None, Query(description="For admins; everybody else asks about their own.")] = None,
) -> AssetUsage:
    """How much room the tenant's files take up."""
    found = await assets.usage(app, tenant_of(principal, tenant) or principal.tenant)
    return AssetUsage(bytes=found.bytes, assets=found.assets, quota=found.quota or None)


@router.get("/{asset_id}", operation_id="get_asset", responses=responses(404))
async def get_asset(principal: Reader, app: Engine, asset_id: AssetPath) -> Asset:
    found = await own_asset(app, principal, asset_id)
    return Asset(**{name: getattr(found, name) for name in Asset.model_fields})


@router.get(
    "/{asset_id}/content", operation_id="get_asset_content", response_class=Response,
    responses=_CONTENT | responses(404, 416),
)  # fmt: skip
async def get_asset_content(
    principal: Reader,
    app: Engine,
    request: Request,
    asset_id: AssetPath,
    download: Annotated[bool, Query(description="Save it as a file, also if it could be played.")] = False,
) -> Response:
    """The file as it came. Single ranges are answered with 206; If-Range and If-None-Match are understood."""
    found = await own_asset(app, principal, asset_id)
    return await content_response(app, found, request.headers, download=download)


async def own_asset(app: App, principal: Principal, asset_id: str) -> assets.Asset:
    """Somebody else's answers like one that does not exist."""
    if "\x00" in asset_id:
        raise not_found("no asset has this id")
    if principal.admin:
        return await assets.get_of_any_tenant(app, asset_id)
    return await assets.get(app, principal.tenant, asset_id)
