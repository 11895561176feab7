"""Whether a worker's process has ended is asked of the kernel, and only where that can know."""

import subprocess
import sys

import pytest

from towpath.engine.tending.process import is_gone, this_process

pytestmark = pytest.mark.skipif(this_process() is None, reason="the kernel of this machine does not say")

_TELL = "from towpath.engine.tending.process import this_process; print(this_process(), flush=True); input()"


def test_a_process_is_there_until_it_has_ended():
    with subprocess.Popen([sys.executable, "-c", _TELL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        told = other.stdout.readline().strip()
        assert not is_gone(told)
        other.kill()
        other.wait()
    assert is_gone(told)


def test_a_process_that_was_killed_and_not_waited_for_has_ended():
    with subprocess.Popen([sys.executable, "-c", _TELL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        told = other.stdout.readline().strip()
        other.kill()
        assert other.stdout.read() == ""  # it has let go of everything
        while not is_gone(told):
            pass
    assert is_gone(told)


def test_a_number_that_is_used_again_is_another_process():
    boot, space, pid, start = str(this_process()).split(" ")
    assert not is_gone(f"{boot} {space} {pid} {start}")
    assert is_gone(f"{boot} {space} {pid} {int(start) - 1}")


def test_nothing_is_known_of_another_machine_or_an_older_worker():
    _, space, pid, start = str(this_process()).split(" ")
    assert not is_gone(f"another-boot {space} {pid} {int(start) - 1}")
    assert not is_gone(None)
    assert not is_gone("")
