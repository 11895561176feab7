"""A server process for tests: `python -m tests.server.push.process DATABASE_URL PORT`."""

import sys

import uvicorn

from tests.server.push.serving import make_app
from towpath.push import Limits
from towpath.server.assembly import create_app
from towpath.server.options import ServerOptions


def main() -> None:
    url, port = sys.argv[1], int(sys.argv[2])
    api = create_app(make_app(url), ServerOptions(ui=False, streams=Limits(heartbeat=0.3)))
    uvicorn.run(api, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main()
