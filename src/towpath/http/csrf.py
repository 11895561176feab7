"""Requests that another site made a browser send.

The session's cookie is SameSite=Lax, which stops most of them. What changes something must in addition come from our own
pages, as the browser itself says: in Sec-Fetch-Site, or where that is not sent, in Origin. API tokens are not affected: no
browser sends them by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from towpath.http.cookies import COOKIE
from towpath.http.facts import SAFE
from towpath.http.problems import Problem

_DEFAULT_PORTS = {"http": 80, "https": 443}


def refusal(method: str, headers: Mapping[str, str], base_url: str = "") -> Problem | None:
    if method in SAFE or "authorization" in headers:
        return None
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        ours = site in ("same-origin", "none")
    elif origin is not None:
        ours = _is_ours(origin, headers, base_url)
    else:  # no browser: fine, unless it brings a session, which only browsers have
        ours = f"{COOKIE}=" not in headers.get("cookie", "")
    return None if ours else _problem()


def foreign_origin(headers: Mapping[str, str], base_url: str = "") -> Problem | None:
    """Refuses whatever a page of another site has sent, whatever it brings: for routes that no page uses at all, and that
    have to hold out where a browser was led to them under a name that is not theirs. Programs send no Origin."""
    origin = headers.get("origin")
    return None if origin is None or _is_ours(origin, headers, base_url) else _problem()


def _is_ours(origin: str, headers: Mapping[str, str], base_url: str) -> bool:
    return _netloc(origin) is not None and _netloc(origin) in _our_own(origin, headers.get("host"), base_url)


def _problem() -> Problem:
    return Problem(
        "csrf", 403, "this request does not come from this server's own pages",
        remedy="send it from there, or use an API token; behind a proxy, name the proxy in TOWPATH_TRUSTED_PROXIES or the "
        "address people use in TOWPATH_BASE_URL",
    )  # fmt: skip


def _our_own(origin: str, host: str | None, base_url: str) -> set[str | None]:
    """The host is compared, not the scheme: a proxy that ends TLS shows us another one than the browser saw."""
    scheme = urlsplit(origin).scheme
    return {_netloc(f"{scheme}://{host}") if host else None, _netloc(base_url)} - {None}


def _netloc(url: str) -> str | None:
    """Host and port, in one spelling."""
    try:
        parts = urlsplit(url)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None
    return f"{parts.hostname}:{port}" if parts.hostname and port else None
