"""A script that uses the sync facade on both sides of a fork and prints what it found, as JSON."""

import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from towpath import App, Context


def make_app(url: str) -> App:
    app = App(url)

    @app.operation("double")
    async def double(ctx: Context, payload: int) -> int:
        return payload * 2

    return app


def in_a_fork(work: Callable[[], object]) -> str:
    """Runs `work` in a forked child and answers what it returned, or its error, as text."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking a process with threads is the very subject
        child = os.fork()
    if child == 0:
        try:
            answer = str(work())
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


def opened_before(app: App) -> dict[str, Any]:
    with app.sync() as jobs:
        jobs.enqueue("double", 1)
        answer = in_a_fork(lambda: jobs.enqueue("double", 2))
        return {"child": answer, "jobs": len(jobs.run(app.list))}


def opened_after(app: App) -> dict[str, Any]:
    jobs = app.sync()
    answer = in_a_fork(lambda: jobs.enqueue("double", 1).id)
    with jobs:
        own = jobs.enqueue("double", 2)
        return {"child": answer, "own": own.id, "jobs": [job.id for job in jobs.run(app.list)]}


if __name__ == "__main__":
    case, url = sys.argv[1:]
    print(json.dumps({"opened_before": opened_before, "opened_after": opened_after}[case](make_app(url))))
