"""A small real OpenID provider: it runs on loopback, checks what it is asked as providers do, and signs real tokens."""

import base64
import contextlib
import hashlib
import json
import secrets
import time
from functools import cache
from urllib.parse import parse_qsl, urlencode

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from tests.http.serving import served

CLIENT, SECRET = "towpath", "the client's secret"


def new_key(kid):
    return RSAKey.generate_key(2048, parameters={"kid": kid, "use": "sig", "alg": "RS256"}, auto_kid=False)


@cache
def first_key():
    """Made once: it takes a while."""
    return new_key("first")


class OpenIdProvider:
    """`person` is whoever logs in next; `twist` changes the claims of the token it will get."""

    def __init__(self):
        self.issuer = ""
        self.person = {"sub": "1", "email": "alice@example.com", "email_verified": True}
        self.twist = dict
        self.keys = [first_key()]
        self.signing = None
        self.header = {}
        self.redeemed = []
        self._codes = {}
        self.api = FastAPI()
        self.api.get("/.well-known/openid-configuration")(self.metadata)
        self.api.get("/jwks")(self.jwks)
        self.api.get("/authorize")(self.authorize)
        self.api.post("/token")(self.token)

    async def metadata(self) -> JSONResponse:
        names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "jwks"}
        return JSONResponse({"issuer": self.issuer} | {name: f"{self.issuer}/{path}" for name, path in names.items()})

    async def jwks(self) -> JSONResponse:
        return JSONResponse({"keys": [key.as_dict(private=False) for key in self.keys]})

    async def authorize(
        self,
        response_type: str,
        client_id: str,
        redirect_uri: str,
        scope: str,
        state: str,
        nonce: str,
        code_challenge: str,
        code_challenge_method: str,
    ) -> RedirectResponse:
        """Logs the person in without asking, and sends the browser back."""
        assert (response_type, client_id, code_challenge_method) == ("code", CLIENT, "S256")
        assert "openid" in scope.split()
        code = secrets.token_urlsafe()
        self._codes[code] = (nonce, code_challenge, redirect_uri)
        return RedirectResponse(f"{redirect_uri}?{urlencode({'code': code, 'state': state, 'session_state': 'x'})}", 302)

    async def token(self, request: Request) -> JSONResponse:
        form = dict(parse_qsl((await request.body()).decode()))
        given = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        assert form["grant_type"] == "authorization_code"
        if given != f"{CLIENT}:{SECRET}" or form["code"] not in self._codes:
            return JSONResponse({"error": "invalid_grant"}, 400)
        nonce, challenge, sent_to = self._codes.pop(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != challenge or form["redirect_uri"] != sent_to:
            return JSONResponse({"error": "invalid_grant"}, 400)
        self.redeemed.append(form["code"])
        return JSONResponse({"access_token": "a", "token_type": "Bearer", "id_token": self.sign(nonce)})

    def sign(self, nonce):
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce, **self.person}
        key = self.signing or self.keys[-1]
        return jwt.encode({"alg": "RS256", "kid": self.keys[-1].kid, **self.header}, self.twist(claims), key, [*ALGORITHMS])


ALGORITHMS = ("RS256", "HS256")


def unsigned(claims):
    """A token of the algorithm `none`."""
    parts = [json.dumps(part).encode() for part in ({"alg": "none", "typ": "JWT"}, claims)]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."


def shared_secret():
    return OctKey.import_key(SECRET.ljust(32, "x"))


@contextlib.asynccontextmanager
async def running_provider():
    provider = OpenIdProvider()
    async with served(provider.api) as port:
        provider.issuer = f"http://127.0.0.1:{port}"
        yield provider
