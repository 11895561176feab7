"""A real PostgreSQL for tests and benchmarks: a throw-away cluster on 127.0.0.1 that never outlives its owner.

Three things clean up. `close()`, or leaving the `with` block, is the ordinary way; `atexit` covers a caller that
forgot; and if the owner is killed outright, a small shell that holds the reading end of a pipe sees the pipe close,
stops the server and removes its directory. (PR_SET_PDEATHSIG would follow the thread that started the server rather
than the process, and exists on Linux only.)
"""

import atexit
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Self

import psutil
import psycopg
from psycopg import sql

from tests.services.postgres_programs import account_for_postgres, find_programs

StopMode = Literal["smart", "fast", "immediate"]

_SIGNALS: dict[StopMode, signal.Signals] = {
    "smart": signal.SIGTERM,
    "fast": signal.SIGINT,
    "immediate": signal.SIGQUIT,
}

_FOR_TESTS = {"fsync": "off", "full_page_writes": "off", "max_connections": "200", "max_wal_size": "256MB"}
_SHARED_MEMORY = Path("/dev/shm")
_ROOM_WANTED = 4 * 2**30

# Each line read is the pid of the running postmaster, or empty while there is none.
_WATCHER = """
pid=
while read -r line && [ "$line" != done ]; do pid=$line; done
if [ -n "$pid" ] && kill -QUIT "$pid" 2>/dev/null; then
    for _ in 1 2 3 4 5 6 7 8 9 10; do [ -e "$1/data/postmaster.pid" ] || break; sleep 0.2; done
fi
rm -rf -- "$1"
"""


class PostgresServer:
    """One cluster with its own data directory and port; both stay the same across restarts and crashes.

    `durable=True` leaves PostgreSQL's own settings alone, for benchmarks. Otherwise nothing waits for the disk, and the
    data lies in memory where there is room: it outlives the server's crashes, but not the machine's. `programs` is the
    directory of a certain version's programs.
    """

    def __init__(
        self, *, durable: bool = False, settings: Mapping[str, str] | None = None, programs: Path | None = None
    ) -> None:
        self._settings = {**({} if durable else _FOR_TESTS), "timezone": "UTC", **(settings or {})}
        self._durable = durable
        self._owner = os.getpid()
        self._account = account_for_postgres()
        self._home = Path(tempfile.mkdtemp(prefix="towpath-postgres-", dir=None if durable else _fast_directory()))
        self._data = self._home / "data"
        self._log = self._home / "log"
        self._watcher = subprocess.Popen(
            ["/bin/sh", "-c", _WATCHER, "watcher", str(self._home)],
            stdin=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        atexit.register(self.close)
        self._postmaster: subprocess.Popen[bytes] | None = None
        self.port = 0
        try:
            if self._account:
                shutil.chown(self._home, self._account["user"], self._account["group"])
            self._bin = find_programs(self._home, self._account, programs)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def running(self) -> bool:
        return self._postmaster is not None and self._postmaster.poll() is None

    @property
    def pid(self) -> int | None:
        return self._postmaster.pid if self._postmaster is not None else None

    def dsn(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Return once the server accepts connections. Does nothing if it already runs."""
        if self.running:
            return
        if not self._data.exists():
            self._create_cluster()
        if self.port:
            self._launch()
        else:
            self._launch_on_a_free_port()

    def stop(self, mode: StopMode = "fast") -> None:
        """`fast` ends sessions and writes a checkpoint; `immediate` leaves recovery to the next start."""
        if self._postmaster is None:
            return
        self._postmaster.send_signal(_SIGNALS[mode])
        try:
            self._postmaster.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.kill()
        self._forget()

    def restart(self, mode: StopMode = "fast") -> None:
        self.stop(mode)
        self.start()

    def kill(self) -> None:
        """SIGKILL the postmaster and every process of its, as when the machine fails."""
        if self._postmaster is None:
            return
        with suppress(psutil.NoSuchProcess):
            postmaster = psutil.Process(self._postmaster.pid)
            postmaster.suspend()  # it cannot start another child while they are being counted
            children = postmaster.children(recursive=True)
            for process in (postmaster, *children):
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            wait_until(lambda: not any(map(alive, children)), 10)
        self._postmaster.wait()
        self._forget()

    def close(self) -> None:
        """Stop the server and remove its directory. May be called twice; a forked child of the owner does nothing."""
        if os.getpid() != self._owner:
            return
        atexit.unregister(self.close)
        self.stop("immediate")
        if self._watcher.stdin is not None and not self._watcher.stdin.closed:
            self._tell_watcher("done")
            with suppress(BrokenPipeError):
                self._watcher.stdin.close()
            self._watcher.wait()

    def create_database(self, name: str, template: str | None = None) -> str:
        """Return the new database's DSN."""
        statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
        if template:
            statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
        with self._connect() as connection:
            if not self._durable and connection.info.server_version >= 150_000:
                statement += sql.SQL(" STRATEGY file_copy")  # half the time of wal_log when nothing is synced
            connection.execute(statement)
        return self.dsn(name)

    def drop_database(self, name: str) -> None:
        """Drop it if it exists, together with the sessions still using it."""
        end_sessions = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s"
        with self._connect() as connection:
            # WITH (FORCE) does this too, but then looks again only after 100 ms.
            wait_until(lambda: connection.execute(end_sessions, (name,)).fetchone() == (0,), 1)
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def log(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(self.dsn(), autocommit=True)

    def _create_cluster(self) -> None:
        command = [self._bin / "initdb", "-D", self._data, "-U", "postgres", "--auth=trust", "--encoding=UTF8"]
        command += ["--no-locale"] if self._durable else ["--no-locale", "--no-sync"]
        done = subprocess.run(command, **self._surroundings(), capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(self._data, ignore_errors=True)
            raise RuntimeError(f"initdb failed with status {done.returncode}: {done.stderr.strip()}")

    def _launch_on_a_free_port(self) -> None:
        for tries_left in (4, 3, 2, 1, 0):
            self.port = _free_port()
            try:
                self._launch()
            except RuntimeError:
                if "could not bind" not in self.log() or not tries_left:
                    raise
            else:
                return

    def _launch(self) -> None:
        command = [str(self._bin / "postgres"), "-D", str(self._data), "-h", "127.0.0.1", "-p", str(self.port)]
        for name, value in {"unix_socket_directories": "", **self._settings}.items():
            command += ["-c", f"{name}={value}"]
        with self._log.open("w") as log:
            self._postmaster = subprocess.Popen(
                command,
                **self._surroundings(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the owner, who then stops the server
            )
        self._tell_watcher(str(self._postmaster.pid))
        wait_until(lambda: not self.running or self._ready(), 60)
        if not self.running or not self._ready():
            self.kill()
            raise RuntimeError(f"PostgreSQL did not start on port {self.port}; its log says:\n{self.log()}")

    def _ready(self) -> bool:
        """Whether this postmaster (not a crashed one before it) says so in its pid file, as pg_ctl asks."""
        try:
            lines = (self._data / "postmaster.pid").read_text().split("\n")
        except FileNotFoundError:
            return False
        return lines[0] == str(self.pid) and len(lines) > 7 and lines[7].strip() == "ready"

    def _surroundings(self) -> dict[str, Any]:
        return {"cwd": self._home, "env": {"PATH": os.defpath, "LC_ALL": "C"}, **self._account}

    def _forget(self) -> None:
        self._postmaster = None
        self._tell_watcher("")

    def _tell_watcher(self, line: str) -> None:
        assert self._watcher.stdin is not None
        with suppress(BrokenPipeError):
            self._watcher.stdin.write(f"{line}\n")
            self._watcher.stdin.flush()


def _fast_directory() -> str | None:
    """Shared memory makes a fresh database in a tenth of the time; None stands for the ordinary temporary directory."""
    if "TMPDIR" not in os.environ and _SHARED_MEMORY.is_dir() and shutil.disk_usage(_SHARED_MEMORY).free > _ROOM_WANTED:
        return str(_SHARED_MEMORY)
    return None


def _free_port() -> int:
    """Below the range for outgoing connections: nobody gets the port by chance while the server restarts."""
    while True:
        port = random.randrange(15_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.002)
