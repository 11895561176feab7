"""A process in a network of its own, from which it reaches a few ports of this machine's loopback and nothing else.

    python -m tests.products.fleet.island outside DIR PORT…             here: takes what comes through the sockets in DIR
    unshare -n python -m tests.products.fleet.island inside DIR PORT… -- COMMAND…

Inside, the same ports listen on a loopback of its own; each connection goes through a Unix socket, which knows no networks.
Ending the process outside cuts the cable.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path

_SIOCSIFFLAGS, _UP_AND_RUNNING = 0x8914, 0x41


def cable(folder: str, port: int) -> str:
    return str(Path(folder) / f"{port}.sock")


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    with suppress(OSError):
        writer.close()


async def _join(
    one: tuple[asyncio.StreamReader, asyncio.StreamWriter], other: tuple[asyncio.StreamReader, asyncio.StreamWriter]
) -> None:
    await asyncio.gather(_pump(one[0], other[1]), _pump(other[0], one[1]))


async def outside(folder: str, ports: list[int]) -> None:
    for port in ports:
        path = cable(folder, port)
        with suppress(FileNotFoundError):
            os.unlink(path)

        async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int = port) -> None:
            try:
                there = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                writer.close()
                return
            await _join((reader, writer), there)

        await asyncio.start_unix_server(taken, path)
    print("ready", flush=True)
    await asyncio.Event().wait()


async def inside(folder: str, ports: list[int], command: list[str]) -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh", b"lo", _UP_AND_RUNNING))
    for port in ports:

        async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int = port) -> None:
            try:
                there = await asyncio.open_unix_connection(cable(folder, port))
            except OSError:
                writer.close()
                return
            await _join((reader, writer), there)

        await asyncio.start_server(taken, "127.0.0.1", port)
    process = await asyncio.create_subprocess_exec(*command)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, lambda: os.kill(process.pid, signal.SIGTERM))
    return await process.wait()


def main() -> int:
    kind, folder, *rest = sys.argv[1:]
    words = rest[: rest.index("--")] if "--" in rest else rest
    ports = [int(word) for word in words]
    if kind == "outside":
        asyncio.run(outside(folder, ports))
        return 0
    return asyncio.run(inside(folder, ports, rest[rest.index("--") + 1 :]))


if __name__ == "__main__":
    sys.exit(main())
