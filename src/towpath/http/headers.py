"""Headers that every answer has, so that a browser does not do more with it than was meant."""

from __future__ import annotations

_UI = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
_API = "default-src 'none'; frame-ancestors 'none'"

_ALWAYS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not no-referrer: browsers would then hide the origin of our own pages' requests from us as well.
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(self), geolocation=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def security_headers(path: str, *, https: bool) -> dict[str, str]:
    """For the answer at a path below the mount point. What a route has set itself is left as it is."""
    api = path in ("/api", "/v1") or path.startswith(("/api/", "/v1/"))
    found = _ALWAYS | {"content-security-policy": _API if api else _UI}
    if api:
        found["cache-control"] = "no-store"
    if https:
        found["strict-transport-security"] = "max-age=31536000"
    return found
