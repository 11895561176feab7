"""Tables of options name every option there is, with its default."""

import inspect

from tests.docs.pages import DOCS
from tests.docs.tables import bare, table_with, tables
from towpath import App, Settings, testing
from towpath.engine.services import Services

ADD = DOCS / "how-to/add-an-operation.md"


def _options(function, *but):
    parameters = list(inspect.signature(function).parameters.values())
    return {item.name: item.default for item in parameters if item.name not in ("self", *but)}


def test_every_option_of_an_operation_is_documented():
    operation, _ = (rows for rows in tables(ADD) if "option" in rows[0])
    assert {bare(row["option"]) for row in operation} == set(_options(App.operation, "name"))


def test_every_option_of_a_job_is_documented_with_its_default():
    _, job = (rows for rows in tables(ADD) if "option" in rows[0])
    options = _options(Services.mould, "operation")
    assert {bare(row["option"]) for row in job} == set(options)
    for row in job:
        default = options[bare(row["option"])]
        if default is not None:
            assert bare(row["default"]).strip('"') in (str(default), f"{default:g}" if default != str(default) else "")


async def test_every_argument_of_the_sql_function_is_documented(postgres_url, tmp_path):
    app = App(postgres_url, settings=Settings(blobs_url=(tmp_path / "blobs").as_uri()))
    async with app, app.transaction() as tx:
        rows = await tx.fetch(
            "SELECT unnest(proargnames) AS name, format_type(unnest(proargtypes), NULL) AS type "
            "FROM pg_proc WHERE proname = 'enqueue' AND pronamespace = 'towpath'::regnamespace"
        )
    names = {"double precision": "float8", "timestamp with time zone": "timestamptz"}
    shown = table_with(DOCS / "how-to/enqueue-in-your-transaction.md", "argument", "type")
    assert [(bare(row["argument"]), row["type"]) for row in shown] == [
        (row["name"], names.get(row["type"], row["type"])) for row in rows
    ]


def test_every_testing_helper_is_documented():
    page = (DOCS / "how-to/test-your-operations.md").read_text("utf-8")
    reference = page[page.index("## Reference") :]
    for name in testing.__all__:
        [line] = [line for line in reference.split("- `") if line.startswith(f"{name}(")]
        helper = getattr(testing, name)
        for parameter in _options(helper.__init__ if inspect.isclass(helper) else helper):
            assert parameter in line, f"{name}({parameter})"
