"""Who somebody is: accounts, sessions, tokens, links, passwords, OpenID Connect. It knows nothing of HTTP."""
