"""A real RabbitMQ for tests: the machine's own server as a node of its own on 127.0.0.1, in a directory of its own."""

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

import psutil

_PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")  # the one on the path changes users first
_REMEDY = "apt-get install --no-install-recommends rabbitmq-server"

# The server is a shell that starts others; all of them end with whoever started it, however that ends.
_WATCHER = """
read -r line
[ "$line" = done ] && exit
kill -9 "-$1" 2>/dev/null
kill -9 "$(cat "$2/epmd.pid")" 2>/dev/null
rm -rf -- "$2"
"""


class RabbitMissing(Exception):
    pass


class RabbitServer:
    """Its name, ports, cookie and data are its own, so that any number run beside each other and beside the machine's.

    Data stay across `stop` and `start`. `freeze` holds it up, with its connections open.
    """

    def __init__(self) -> None:
        if not _PROGRAM.exists() or shutil.which("epmd") is None:
            raise RabbitMissing(_REMEDY)
        self._home = Path(tempfile.mkdtemp(prefix="towpath-rabbit-"))
        first = _free_ports(3)
        self.port, self._distribution, self._epmd_port = first, first + 1, first + 2
        self._config().write_text(
            f"listeners.tcp.default = 127.0.0.1:{self.port}\n"
            "disk_free_limit.absolute = 1MB\nvm_memory_high_watermark.absolute = 512MB\n"
            "log.console = true\nlog.file = false\n"
        )
        (self._home / "plugins").write_text("[].\n")
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        self._epmd: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _config(self) -> Path:
        return self._home / "rabbitmq.conf"

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}/"

    def start(self) -> None:
        if self._process is not None:
            return
        if self._epmd is None:
            self._epmd = subprocess.Popen(
                ["epmd", "-address", "127.0.0.1", "-port", str(self._epmd_port)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            (self._home / "epmd.pid").write_text(str(self._epmd.pid))
        with (self._home / "log").open("a") as log:
            self._process = subprocess.Popen(
                [str(_PROGRAM)], cwd=self._home, env=self._surroundings(),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._watcher = subprocess.Popen(
            ["/bin/sh", "-c", _WATCHER, "watcher", str(self._process.pid), str(self._home)],
            stdin=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        deadline = time.monotonic() + 120
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = (self._home / "log").read_text(errors="replace")[-3000:]
                self.close()
                raise RuntimeError(f"RabbitMQ did not start: {said}")
            time.sleep(0.05)

    def _surroundings(self) -> dict[str, str]:
        home = str(self._home)
        return {
            "PATH": os.defpath + ":/usr/sbin:/sbin",
            "HOME": home,
            "LANG": "C.UTF-8",
            "RABBITMQ_NODENAME": f"towpath-{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self._distribution),
            "RABBITMQ_CONFIG_FILE": str(self._config()),
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{home}/plugins",
            "RABBITMQ_MNESIA_BASE": f"{home}/data",
            "RABBITMQ_LOG_BASE": f"{home}/logs",
            "RABBITMQ_PID_FILE": f"{home}/pid",
            "ERL_EPMD_PORT": str(self._epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            # Loopback only, two schedulers, and threads that do not spin while they wait.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                "-kernel inet_dist_use_interface {127,0,0,1} +S 2:2 +sbwt none +sbwtdcpu none"
            ),
        }

    def _ready(self) -> bool:
        """Whether it takes connections, and has said hello: its port is open a little before that."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as probe:
                probe.sendall(b"AMQP\x00\x00\x09\x01")
                return probe.recv(1) == b"\x01"
        except OSError:
            return False

    def freeze(self) -> None:
        for process in self._processes():
            process.suspend()

    def thaw(self) -> None:
        for process in self._processes():
            process.resume()

    def stop(self) -> None:
        """As an operator stops it. Killed outright, this version loses quorum queues of the last three minutes for good."""
        self._end(signal.SIGTERM)

    def _end(self, by: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, by)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._let_watcher_go()

    def close(self) -> None:
        self._end(signal.SIGKILL)
        if self._epmd is not None:
            self._epmd.kill()
            self._epmd.wait()
        shutil.rmtree(self._home, ignore_errors=True)

    def _let_watcher_go(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is not None and watcher.stdin is not None:
            watcher.stdin.write(b"done\n")
            watcher.stdin.close()
            watcher.wait()

    def _processes(self) -> list[psutil.Process]:
        assert self._process is not None
        server = psutil.Process(self._process.pid)
        return [server, *server.children(recursive=True)]


def _free_ports(count: int) -> int:
    """The first of so many neighbours, below the range for outgoing connections."""
    while True:
        first = random.randrange(10_000, 15_000)
        with suppress(OSError):
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
