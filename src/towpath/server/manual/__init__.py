"""The API as a page for people, made from its OpenAPI document. No scripts, nothing from elsewhere."""

from towpath.server.manual.page import STYLE, page

__all__ = ["STYLE", "page"]
