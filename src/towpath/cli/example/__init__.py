"""The example behind `towpath up`: several tenants have their documents read, measured and packed.

`pipeline.py` is written as a user's own module would be, and can be served by an ordinary worker:
`towpath worker --app towpath.cli.example:app`.
"""

from towpath.cli.example.pipeline import app

__all__ = ["app"]
