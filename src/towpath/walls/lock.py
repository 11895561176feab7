"""The lock a decoder puts on itself once all it needs is in memory: from then on it can only compute, read the file it was
given and write to the pipes it was given. `decoder.py` loads this file by its path, so it imports nothing of Towpath.

Each wall stands by itself, and which ones there are depends on the kernel; `towpath doctor` tells.

namespaces   a network without any address, and no power of root's over what is outside
landlock     no file can be opened, made or run, no port reached, no process outside signalled
limits       no new descriptor, no file that grows, no child (a process of root could lift this one again; not with `loops`)
seccomp      no system call but those of the list below; all others are refused as not permitted
"""

import ctypes
import errno
import os
import platform
import resource
import sys
from collections.abc import Callable, Collection

_NEW_USER, _NEW_NET, _NEW_IPC = 0x10000000, 0x40000000, 0x08000000
_SET_DUMPABLE, _SET_NO_NEW_PRIVS = 4, 38
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446
_SECCOMP_SET_MODE_FILTER, _SECCOMP_ALL_THREADS = 1, 1
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_NOT_THERE = 0x00050000 | errno.ENOSYS
_CLONE_THREAD = 0x00010000
# Of a word at an offset; to a constant; with a bit of a constant; a constant.
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_SET, _RETURN = 0x20, 0x15, 0x45, 0x06

# What computing takes. The numbers are the kernel's, and never change.
_X86_64 = {
    "read": 0, "write": 1, "close": 3, "fstat": 5, "lseek": 8, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12,
    "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "pread64": 17, "readv": 19, "writev": 20,
    "sched_yield": 24, "mremap": 25, "madvise": 28, "nanosleep": 35, "getpid": 39, "exit": 60, "gettimeofday": 96,
    "getrusage": 98, "sysinfo": 99, "sigaltstack": 131, "gettid": 186, "time": 201, "futex": 202,
    "sched_getaffinity": 204, "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230,
    "exit_group": 231, "set_robust_list": 273, "getcpu": 309, "getrandom": 318, "membarrier": 324, "rseq": 334,
}  # fmt: skip
_AARCH64 = {
    "close": 57, "lseek": 62, "read": 63, "write": 64, "readv": 65, "writev": 66, "pread64": 67, "fstat": 80, "exit": 93,
    "exit_group": 94, "futex": 98, "set_robust_list": 99, "nanosleep": 101, "clock_gettime": 113, "clock_getres": 114,
    "clock_nanosleep": 115, "sched_getaffinity": 123, "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132,
    "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "getrusage": 165, "getcpu": 168,
    "gettimeofday": 169, "getpid": 172, "gettid": 178, "sysinfo": 179, "brk": 214, "munmap": 215, "mremap": 216,
    "mmap": 222, "mprotect": 226, "madvise": 233, "getrandom": 278, "membarrier": 283, "rseq": 293,
}  # fmt: skip
# What an event loop takes that was made before: to wait for its descriptors, and to wake itself over a pair of sockets.
_LOOPS = {
    "x86_64": {"sendto": 44, "recvfrom": 45, "epoll_wait": 232, "epoll_ctl": 233, "epoll_pwait": 281},
    "aarch64": {"epoll_ctl": 21, "epoll_pwait": 22, "sendto": 206, "recvfrom": 207},
}
_CLONES = {"x86_64": (56, 435), "aarch64": (220, 435)}
# Machine: how the kernel calls it, the number of seccomp(2), and what is allowed.
_MACHINES = {"x86_64": (0xC000003E, 317, _X86_64), "aarch64": (0xC00000B7, 277, _AARCH64)}


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def put_on(wanted: Collection[str], start_threads: Callable[[], None], *, loops: bool = False) -> list[str]:
    """Raises the walls that are wanted and answers those that stand. Two of them hold for threads that are started later.

    `loops` is for a library with an event loop of its own: it may wait for its threads, and start others. Never a process.
    """
    stand = [name for name, raised in _FIRST.items() if name in wanted and raised()]
    start_threads()
    return stand + [name for name, raised in _THEN.items() if name in wanted and raised(loops)]


def enter_namespaces() -> bool:
    """Only a process with one thread can change its user namespace."""
    return sys.platform == "linux" and bool(_libc().unshare(_NEW_USER | _NEW_NET | _NEW_IPC) == 0)


def close_files() -> bool:
    """For this thread and those it starts from here on."""
    if sys.platform != "linux":
        return False
    level = _landlock_level()
    if level < 1:
        return False
    rights = 13 + (level >= 2) + (level >= 3) + (level >= 5)  # each level knows more that can be forbidden
    rules = _Ruleset((1 << rights) - 1, 0b11 if level >= 4 else 0, 0b11 if level >= 6 else 0)
    size = 8 if level < 4 else 16 if level < 6 else 24
    made = _call(_LANDLOCK_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), 0)
    if made < 0:
        return False
    try:
        return no_new_privileges() and _call(_LANDLOCK_RESTRICT, made, 0) == 0
    finally:
        os.close(made)


def filter_calls(loops: bool = False) -> bool:
    """For every thread of the process. The last wall: the others could not be raised behind it."""
    found = _MACHINES.get(platform.machine()) if sys.platform == "linux" and sys.maxsize > 2**32 else None
    if found is None or not no_new_privileges():
        return False
    architecture, seccomp, allowed = found
    calls = allowed | _LOOPS[platform.machine()] if loops else allowed
    program = _filter(architecture, sorted(calls.values()), _CLONES[platform.machine()] if loops else None)
    code = (_Instruction * len(program))(*program)
    given = _Program(len(program), code)
    return _call(seccomp, _SECCOMP_SET_MODE_FILTER, _SECCOMP_ALL_THREADS, ctypes.byref(given)) == 0


def lower_limits(loops: bool = False) -> bool:
    """What every system has. Descriptors that are open stay so. Threads are counted as processes."""
    for what in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, *(() if loops else (resource.RLIMIT_NPROC,))):
        resource.setrlimit(what, (0, 0))
    return True


def no_new_privileges() -> bool:
    """Also: no core dump, and no debugger of the same user."""
    libc = _libc()
    return bool(libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0) == 0)


def _filter(architecture: int, allowed: list[int], threads: tuple[int, int] | None = None) -> list[_Instruction]:
    """Calls of another architecture have other numbers, so they are refused before any number is looked at."""
    more = _threads_only(*threads) if threads else []
    refuse, allow = len(allowed) + len(more) + 3, len(allowed) + len(more) + 4
    checks = [_Instruction(_JUMP_IF_EQUAL, allow - at - 1, 0, number) for at, number in enumerate(allowed, 3)]
    return [
        _Instruction(_LOAD, 0, 0, 4),
        _Instruction(_JUMP_IF_EQUAL, 0, refuse - 2, architecture),
        _Instruction(_LOAD, 0, 0, 0),
        *checks,
        *more,
        _Instruction(_RETURN, 0, 0, _REFUSE),
        _Instruction(_RETURN, 0, 0, _ALLOW),
    ]


def _threads_only(clone: int, clone3: int) -> list[_Instruction]:
    """What `clone` is to make stands in its first argument, and must be a thread. A filter cannot look at what `clone3`
    points to: it is said not to exist, and then the C library takes `clone`."""
    return [
        _Instruction(_JUMP_IF_EQUAL, 0, 1, clone3),
        _Instruction(_RETURN, 0, 0, _NOT_THERE),
        _Instruction(_JUMP_IF_EQUAL, 0, 2, clone),
        _Instruction(_LOAD, 0, 0, 16),
        _Instruction(_JUMP_IF_SET, 1, 0, _CLONE_THREAD),
    ]


def _landlock_level() -> int:
    return _call(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)


def _call(number: int, *args: object) -> int:
    return int(_libc().syscall(ctypes.c_long(number), *args))


def _libc() -> ctypes.CDLL:
    found = ctypes.CDLL(None, use_errno=True)
    found.syscall.restype = ctypes.c_long
    return found


_FIRST = {"namespaces": enter_namespaces, "landlock": close_files}
_THEN = {"limits": lower_limits, "seccomp": filter_calls}
WALLS = (*_FIRST, *_THEN)
