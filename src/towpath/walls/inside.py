"""What programs that open strangers' files have in common: limits, and an end with whoever started them.

It imports nothing of Towpath: such a program loads it by its path."""

import contextlib
import os
import resource
import signal
import threading


def limit(memory_mb: int, cpu_seconds: int) -> None:
    memory = memory_mb * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def watch_the_parent(lifeline: int) -> None:
    """Ends this process when nobody holds the other end of the pipe any more."""
    threading.Thread(target=_end_with_the_parent, args=(lifeline,), daemon=True).start()


def _end_with_the_parent(lifeline: int) -> None:
    while os.read(lifeline, 1024):
        pass
    with contextlib.suppress(PermissionError):  # where it may not, it has no children either
        os.killpg(os.getpid(), signal.SIGKILL)  # it was started as the leader of a group
    os._exit(1)


def out_of_memory(error: BaseException) -> bool:
    """Python, the library and the loader of libraries each say it in their own way."""
    told = ("Cannot allocate memory", "failed to map segment", "cannot allocate")
    return isinstance(error, MemoryError) or any(words in str(error) for words in told)
