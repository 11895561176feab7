"""A decoder that a file has taken over: run in place of decoder.py, it tries to get out when it would look at the file.

What became of each try is told in the words a file is refused with. A test makes a copy of this program with values in the
place of what stands between at-signs.
"""

import ctypes
import errno
import importlib.util
import json
import os
import resource
import socket
from collections.abc import Callable
from functools import partial
from typing import Any

SECRET, PORT, PARENT, DECODER = "@SECRET@", "@PORT@", "@PARENT@", "@DECODER@"
WANTED = "@WANTED@"


def _write() -> None:
    os.close(os.open(SECRET + ".new", os.O_WRONLY | os.O_CREAT))


def _connect() -> None:
    with socket.socket() as one:
        one.connect(("127.0.0.1", int(PORT)))


def _send() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"secret", ("127.0.0.1", int(PORT)))


def _local_socket() -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(SECRET + ".socket")


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _debug() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, int(PARENT), None, None) != 0:  # 16: attach
        raise OSError(ctypes.get_errno(), "ptrace")


def _lift() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    os.close(os.open(SECRET, os.O_RDONLY))


TRIES: dict[str, Callable[[], Any]] = {
    "read": lambda: os.close(os.open(SECRET, os.O_RDONLY)),
    "reopen": lambda: os.close(os.open("/proc/self/fd/0", os.O_RDONLY)),
    "list": lambda: os.listdir("/"),
    "write": _write,
    "rename": lambda: os.rename(SECRET, SECRET + ".old"),
    "delete": lambda: os.unlink(SECRET),
    "connect": _connect,
    "send": _send,
    "local socket": _local_socket,
    "shell": lambda: os.execv("/bin/sh", ["sh", "-c", "exit 0"]),
    "fork": _fork,
    "kill": lambda: os.kill(int(PARENT), 0),
    "debug": _debug,
    "lift": _lift,
}


def told(attempt: Callable[[], Any]) -> str:
    try:
        attempt()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "?")
    except ValueError:  # how Python says that a limit may not be changed
        return "EPERM"
    return "done"


def take_over(*_: Any) -> None:
    found = {name: told(TRIES[name]) for name in WANTED.split(",")}
    open_ones = [number for number in range(64) if told(partial(os.lseek, number, 0, os.SEEK_CUR)) != "EBADF"]
    raise decoder["Refused"](json.dumps({"tries": found, "open": open_ones, "knows": sorted(os.environ)}), "hijacked")


def main() -> None:
    spec = importlib.util.spec_from_file_location("decoder", DECODER)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    decoder.update(vars(module))
    module.opened = take_over  # type: ignore[attr-defined]  # a module like any other
    module.main()


decoder: dict[str, Any] = {}
if __name__ == "__main__":
    main()
