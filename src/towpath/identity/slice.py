"""The slice behind accounts: its tables and its named queries. `app.add_slice(SLICE)` before the app is opened."""

from __future__ import annotations

from importlib.resources import files

from towpath.store.migrating import Slice

SLICE = Slice("identity", files("towpath.identity") / "migrations", files("towpath.identity") / "queries")
