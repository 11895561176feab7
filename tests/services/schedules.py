"""Products bring schedules that fire at minutes of their own. What a test finds must not hang on the time of day."""

from importlib.util import find_spec
from typing import Any

from towpath import App


def of_a_product(name: str) -> bool:
    """Whether an operation or a schedule of this name is a product's own, such as `documents.tidy`."""
    product, dot, _ = name.partition(".")
    return bool(dot) and find_spec(f"towpath.{product}") is not None


async def by_hand_only(app: App) -> None:
    """Schedules of products wait until somebody fires them; a test's own go on."""
    for plan in await app.schedules.list():
        if of_a_product(plan.name):
            await app.schedules.pause(plan.name)


def own(plans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What an API tells of schedules, without those of products."""
    return [plan for plan in plans if not of_a_product(plan["name"])]
