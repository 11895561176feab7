"""A simulator on a port of its own, on loopback, in a thread of its own."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from towpath.providers.simulator.simulator import Simulator

_PATIENCE = 30.0


@contextmanager
def served(simulator: Simulator, port: int = 0) -> Iterator[str]:
    """Serves it until the block ends, and answers its URL; port 0 takes any that is free."""
    import uvicorn

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", port))
        listening.listen(128)
        simulator.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(simulator.app, log_config=None, log_level="warning", lifespan="off", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), name=f"simulator-{simulator.name}", daemon=True)
        thread.start()
        deadline = time.monotonic() + _PATIENCE
        while not server.started:
            if not thread.is_alive() or time.monotonic() > deadline:
                raise RuntimeError(f"the simulator of {simulator.name} did not start on {simulator.url}")
            time.sleep(0.01)
        try:
            yield simulator.url
        finally:
            server.should_exit = True
            thread.join(_PATIENCE)
