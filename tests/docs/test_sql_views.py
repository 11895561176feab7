"""The page about views describes every view and every column, in their order, and nothing else."""

import re

from tests.docs.pages import DOCS
from towpath import App, Settings

PAGE = DOCS / "reference/sql-views.md"
_SQLITE = """
SELECT substr(m.name, 9) AS relation, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
WHERE m.type = 'view' AND m.name LIKE 'towpath_v%' ORDER BY m.rowid, c.cid
"""
_POSTGRES = r"""
SELECT c.table_name AS relation, c.column_name AS name
FROM information_schema.columns AS c JOIN information_schema.views AS v USING (table_schema, table_name)
WHERE c.table_schema = 'towpath' AND c.table_name LIKE 'v\_%' ORDER BY c.table_name, c.ordinal_position
"""


def described() -> dict[str, list[str]]:
    sections = re.split(r"^## (v_\w+)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {
        name: re.findall(r"^\| `(\w+)` \| \S.* \|$", text, re.MULTILINE)
        for name, text in zip(sections[::2], sections[1::2], strict=True)
    }


async def test_the_page_describes_the_views_as_they_are(database_url, tmp_path):
    async with App(database_url, settings=Settings(blobs_url=tmp_path.as_uri())) as app, app.transaction() as tx:
        rows = await tx.fetch(_SQLITE if database_url.startswith("sqlite") else _POSTGRES)
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["relation"], []).append(row["name"])
    assert found == described()
