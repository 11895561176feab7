"""The provider: what it says about itself, its keys, and what it says about somebody who has logged in there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from towpath.config import Settings
from towpath.core.errors import ConfigurationError
from towpath.identity.errors import LoginRefused, ProviderUnavailable
from towpath.outbound.addresses import is_loopback
from towpath.outbound.client import usual_trust

# Only such as need the provider's private key: with the others, whoever knows our secret could sign.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_KEEP_SECONDS = 600.0
_LEEWAY = 60
_RENEW_SECONDS = 5.0
_TIMEOUT = 10.0


@dataclass(slots=True)
class Provider:
    """One per server process. Its metadata and keys are fetched when needed and kept for ten minutes."""

    issuer: str
    client_id: str
    client_secret: str
    _kept: dict[str, tuple[float, dict[str, Any]]] = field(default_factory=dict)
    _renewed: float = float("-inf")

    async def metadata(self) -> dict[str, Any]:
        found = await self._document(f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
        if found.get("issuer") != self.issuer:
            raise ProviderUnavailable(f"the provider calls itself {found.get('issuer')!r}, not as TOWPATH_OIDC_ISSUER says")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            _check_secure(str(found.get(name) or ""), name)
        return found

    async def redeem(self, code: str, verifier: str, redirect_uri: str) -> str:
        """Exchanges the code for the ID token."""
        metadata = await self.metadata()
        form = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri, "code_verifier": verifier,
            "client_id": self.client_id,
        }  # fmt: skip
        methods = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        basic = bool(self.client_secret) and "client_secret_basic" in methods
        if self.client_secret and not basic:
            form["client_secret"] = self.client_secret
        answer = await self._ask("POST", metadata["token_endpoint"], form, basic=basic)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise LoginRefused(f"the provider gave no ID token: {str(answer.get('error', 'no reason given'))[:100]}")
        return token

    async def claims(self, id_token: str, nonce: str) -> dict[str, Any]:
        """What the token says, once its signature, issuer, audience, age and nonce are right."""
        found = await self.signed(id_token, nonce={"essential": True, "value": nonce})
        party = found.get("azp")
        if party is not None and party != self.client_id:
            raise LoginRefused("the provider's ID token is for somebody else")
        return found

    async def signed(self, id_token: str, **rules: Any) -> dict[str, Any]:
        """What the token says, once its signature, issuer, audience and age are right, and what the rules ask for."""
        from joserfc import errors, jwt

        uri = str((await self.metadata())["jwks_uri"])
        try:
            try:
                token = jwt.decode(id_token, _keys(await self._document(uri)), algorithms=_ALGORITHMS)
            except errors.InvalidKeyIdError:  # the provider has new keys
                if not self._may_renew():
                    raise
                self._kept.pop(uri, None)
                token = jwt.decode(id_token, _keys(await self._document(uri)), algorithms=_ALGORITHMS)
            registry = jwt.JWTClaimsRegistry(
                leeway=_LEEWAY, iss={"essential": True, "value": self.issuer}, sub={"essential": True},
                aud={"essential": True, "value": self.client_id}, exp={"essential": True}, iat={"essential": True}, **rules,
            )  # fmt: skip
            registry.validate(token.claims)
        except (errors.JoseError, ValueError) as error:
            raise LoginRefused(f"the provider's ID token does not hold: {error}") from None
        return dict(token.claims)

    def _may_renew(self) -> bool:
        """Keys by names that nobody knows are asked for now and then only: anybody can make them up."""
        now = time.monotonic()
        if now < self._renewed + _RENEW_SECONDS:
            return False
        self._renewed = now
        return True

    async def _document(self, url: str) -> dict[str, Any]:
        until, found = self._kept.get(url, (float("-inf"), {}))
        if time.monotonic() >= until:
            found = await self._ask("GET", url)
            self._kept[url] = (time.monotonic() + _KEEP_SECONDS, found)
        return found

    async def _ask(
        self, method: str, url: str, form: Mapping[str, str] | None = None, *, basic: bool = False
    ) -> dict[str, Any]:
        """An error of the token endpoint is an answer too, so only what is no JSON object counts as none."""
        import httpx

        auth = httpx.BasicAuth(self.client_id, self.client_secret) if basic else None
        try:
            async with asyncio.timeout(_TIMEOUT), httpx.AsyncClient(verify=usual_trust(), timeout=_TIMEOUT) as client:
                response = await client.request(
                    method, url, data=form, auth=auth, headers={"accept": "application/json"}
                )  # fmt: skip
                found = response.json()
        except (httpx.HTTPError, TimeoutError, ValueError) as error:
            raise ProviderUnavailable(f"the OpenID provider did not answer: {type(error).__name__}") from error
        if not isinstance(found, dict) or (form is None and response.status_code != 200):
            raise ProviderUnavailable(f"the OpenID provider answered {response.status_code} to {method} {url}")
        return found


def _keys(document: dict[str, Any]) -> Any:
    from joserfc.jwk import KeySet

    return KeySet.import_key_set(document)  # type: ignore[arg-type]  # checked as it is read


def _check_secure(url: str, what: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise ConfigurationError(f"the {what} of the OpenID provider must be an https:// address, got {url[:100]!r}")


def provider_from(settings: Settings) -> Provider | None:
    """None if there is none to log in with."""
    if not settings.oidc_issuer:
        return None
    _check_secure(settings.oidc_issuer, "issuer")
    if not settings.oidc_client_id or not settings.oidc_allowed:
        raise ConfigurationError("TOWPATH_OIDC_ISSUER also needs TOWPATH_OIDC_CLIENT_ID and TOWPATH_OIDC_ALLOWED")
    return Provider(settings.oidc_issuer, settings.oidc_client_id, settings.oidc_client_secret)
