"""PostgreSQL: a pool, a bell on LISTEN/NOTIFY, and snapshots as stream cursors."""

from towpath.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
