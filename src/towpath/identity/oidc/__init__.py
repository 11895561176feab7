"""Logging in through an OpenID Connect provider: authorization code with PKCE, state and nonce."""
