"""The shape of a database, apart from the order in which its columns were added."""

from towpath import App

_SQLITE_COLUMNS = """
SELECT t.name AS relation, c.name, lower(c.type) AS type, c."notnull" AS required, c.dflt_value AS "default", c.pk
FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'
"""
_SQLITE_INDEXES = "SELECT name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger', 'view') AND sql IS NOT NULL"
_POSTGRES_COLUMNS = """
SELECT table_name AS relation, column_name AS name, data_type AS type, is_nullable AS required, column_default AS "default"
FROM information_schema.columns WHERE table_schema = 'towpath'
"""
_POSTGRES_INDEXES = "SELECT indexname AS name, indexdef AS sql FROM pg_indexes WHERE schemaname = 'towpath'"
_POSTGRES_FUNCTIONS = """
SELECT proname AS name, pg_get_functiondef(oid) AS sql FROM pg_proc WHERE pronamespace = 'towpath'::regnamespace
"""
_POSTGRES_VIEWS = """
SELECT relname AS name, pg_get_viewdef(oid) AS sql FROM pg_class
WHERE relnamespace = 'towpath'::regnamespace AND relkind = 'v'
"""
_POSTGRES_TRIGGERS = """
SELECT tgname AS name, pg_get_triggerdef(t.oid) AS sql FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
WHERE c.relnamespace = 'towpath'::regnamespace AND NOT tgisinternal
"""
_POSTGRES_OPTIONS = """
SELECT relname AS name, reloptions AS options FROM pg_class
WHERE relnamespace = 'towpath'::regnamespace AND reloptions IS NOT NULL
"""
_POSTGRES_CONSTRAINTS = """
SELECT conrelid::regclass::text AS relation, pg_get_constraintdef(oid) AS sql
FROM pg_constraint WHERE connamespace = 'towpath'::regnamespace
"""


async def schema_of(app: App) -> list[str]:
    """Every column, index, constraint, view, trigger and function, as comparable text."""
    if app.url.startswith("sqlite"):
        looks = [_SQLITE_COLUMNS, _SQLITE_INDEXES]
    else:
        looks = [
            _POSTGRES_COLUMNS, _POSTGRES_INDEXES, _POSTGRES_FUNCTIONS, _POSTGRES_CONSTRAINTS, _POSTGRES_VIEWS,
            _POSTGRES_TRIGGERS, _POSTGRES_OPTIONS,
        ]  # fmt: skip
    async with app.transaction() as tx:
        found = [await tx.fetch(look) for look in looks]
    return sorted(str(dict(row)) for rows in found for row in rows)
