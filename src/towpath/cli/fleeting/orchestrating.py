"""towpath fleet orchestrate: a process that turns objects of a bucket into tasks and sends them to remote workers."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Annotated, Any

import typer

from towpath import config, fleet
from towpath.cli.data import usual_database
from towpath.cli.options import Database, finds_data
from towpath.cli.patience import opened_patiently
from towpath.core.errors import ConfigurationError
from towpath.core.records import DEFAULT_TENANT
from towpath.engine.app import App
from towpath.fleet.arrivals import Intake
from towpath.fleet.dispatching import check_attempts
from towpath.fleet.intake import Wanted
from towpath.fleet.names import CARE_QUEUE, QUEUES, TRANSCRIBE_FILE
from towpath.fleet.orchestrating import SWEEP_SECONDS, orchestrate_with
from towpath.fleet.queues import Queues
from towpath.fleet.storage import Place, Storages, place_of

log = logging.getLogger("towpath.cli")


@finds_data
def orchestrate(  # noqa: PLR0913  (each is an option of the command)
    *,
    source: Annotated[str, typer.Option("--input", metavar="URL", help="Where objects come, such as s3://in/audio.")],
    target: Annotated[str, typer.Option("--output", metavar="URL", help="Where results go, such as s3://out.")],
    events: Annotated[
        str, typer.Option("--events", metavar="URL", help="The SQS queue of the bucket's notices.", show_default=False)
    ] = "",
    work: Annotated[
        str,
        typer.Option(
            "--work", metavar="URL", show_default=False,
            help="The SQS queue that tasks are sent to; left out, workers ask a server for them.",
        ),
    ] = "",
    status: Annotated[
        str, typer.Option("--status", metavar="URL", help="The SQS queue that workers report to.", show_default=False)
    ] = "",
    operation: Annotated[str, typer.Option("--operation", help="What is done with each object.")] = TRANSCRIBE_FILE,
    settings: Annotated[
        str | None, typer.Option("--settings", metavar="JSON", help="Its settings.", show_default=False)
    ] = None,
    max_attempts: Annotated[
        int | None, typer.Option("--max-attempts", help="How often a task may fail; 3 by default.", show_default=False)
    ] = None,
    suffix: Annotated[str, typer.Option("--suffix", help="What follows its object's key in a result's name.")] = ".json",
    tenant: Annotated[str, typer.Option("--tenant", help="Whose the tasks are.")] = DEFAULT_TENANT,
    sweep: Annotated[
        float, typer.Option("--sweep", min=0, help="Seconds between two listings of the input, for what no notice told of.")
    ] = SWEEP_SECONDS,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="How many tasks to send or judge at once.")] = 16,
    name: Annotated[
        str | None, typer.Option("--name", help="What to call it; host and process id by default.", show_default=False)
    ] = None,
    database: Database = None,
) -> None:  # fmt: skip
    """Makes a task of every object that comes into a bucket, sends it to remote workers and looks at what they make of it.

    It runs until SIGTERM or Ctrl-C; any number of them may run. Endpoint, region and credentials of buckets and queues are
    those of AWS's own variables. Workers need none of them: a task brings URLs that open its own objects for a while.

    \b
    Examples:
      towpath fleet orchestrate --input s3://in --output s3://out --events URL --work URL --status URL
      towpath fleet orchestrate --input s3://in/audio --output s3://out/text     # workers ask a server
    """
    from towpath.cli.logs import set_up_logs

    if bool(work) != bool(status):
        raise ConfigurationError("--work and --status belong together: tasks go out by one, reports come in by the other")
    wanted = Wanted(operation, _settings(settings), check_attempts(max_attempts))
    places = place_of(source, "--input"), place_of(target, "--output")
    intake = Intake(*places, work, wanted, tenant, suffix)
    set_up_logs(config.load())
    app = App(database or usual_database())
    fleet.attach(app)
    orchestrate_with(app, intake, events, status, sweep)
    asyncio.run(_run(app, places, (events, work, status), concurrency, name))


async def _run(app: App, places: tuple[Place, ...], queues: tuple[str, ...], concurrency: int, name: str | None) -> None:
    """What is misspelt or closed to us is told before anything is begun."""
    for url in filter(None, queues):
        await app.part(Queues).of(url).attributes("QueueArn")
    for place in places:
        await app.part(Storages).bucket(place.bucket).head("towpath/look")
    log.info("orchestrating for %s and %s", places[0].bucket, places[1].bucket)
    try:
        async with opened_patiently(app, log.warning):
            await app.run_until_signal([*QUEUES, CARE_QUEUE], concurrency, name)
    finally:
        app.part(Queues).close()


def _settings(text: str | None) -> dict[str, Any]:
    try:
        told = json.loads(text or "{}")
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise typer.BadParameter('give a JSON object, such as \'{"language": "en"}\'', param_hint="--settings")
    return told
