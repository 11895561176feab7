"""towpath limits: how much tenants may spend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from towpath.cli.auditing import noting
from towpath.cli.opening import opened, run
from towpath.cli.options import AsJson, Database, finds_data
from towpath.cli.records import plain
from towpath.cli.screen import clean, console, say_json, table
from towpath.store.spending import EVER, MONTH, Limit

app = typer.Typer()

TenantName = Annotated[str, typer.Argument(metavar="TENANT", help="The tenant's name.")]


@app.callback(invoke_without_command=True)
@finds_data
def limits(ctx: typer.Context, as_json: AsJson = False, database: Database = None) -> None:
    """Lists what tenants may spend, and what each has spent of it. Who has no limit may spend anything.

    Work that would cost more waits for budget instead of failing, and goes on by itself when the limit is raised.

    \b
    Examples:
      towpath limits
      towpath limits set alice 500
      towpath limits clear alice
    """
    if ctx.invoked_subcommand is None:
        run(_list(as_json, database))


async def _list(as_json: bool, database: str | None) -> None:
    async with opened(database) as towpath:
        found = await towpath.spending.limits()
    if as_json:
        say_json([plain(limit) for limit in found])
    else:
        console().print(_grid(found) if found else "no tenant has a limit")


def _grid(found: Sequence[Limit]) -> Table:
    grid = table("tenant", "may spend", "in a", "spent or held back")
    for limit in found:
        period = "month" if limit.period == MONTH else "lifetime"
        grid.add_row(clean(limit.name), f"{limit.cents:,.2f} cents", period, f"{limit.spent:,.2f} cents")
    return grid


@app.command("set")
@finds_data
def set_limit(
    tenant: TenantName,
    cents: Annotated[float, typer.Argument(metavar="CENTS", min=0, help="What it may spend.")],
    ever: Annotated[bool, typer.Option("--ever", help="Altogether, instead of in a month.")] = False,
    database: Database = None,
) -> None:
    """Says what a tenant may spend in a month. Work of it that waits for money looks again at once.

    \b
    Examples:
      towpath limits set alice 500
      towpath limits set alice 20000 --ever
    """

    async def work() -> None:
        async with opened(database) as towpath:
            period = EVER if ever else MONTH
            also = await noting(towpath, "limit.set", tenant, cents=cents, period=period)
            await towpath.spending.limit_tenant(tenant, cents, period=period, also=also)

    run(work())
    console().print(f"{clean(tenant)} may spend {cents:,.2f} cents{'' if ever else ' a month'}")


@app.command("clear")
@finds_data
def clear(tenant: TenantName, database: Database = None) -> None:
    """Takes a tenant's limit away: it may spend anything.

    \b
    Examples:
      towpath limits clear alice
    """

    async def work() -> None:
        async with opened(database) as towpath:
            also = await noting(towpath, "limit.clear", tenant)
            await towpath.spending.limit_tenant(tenant, None, also=also)

    run(work())
    console().print(f"{clean(tenant)} may spend anything")
