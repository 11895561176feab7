"""A second server may come and go, or be killed: links still lead to the one that runs."""

import signal

import pytest

from tests.cli.commands import started
from tests.cli.test_serve import _address


def _linked(towpath):
    return towpath("login-link").stdout.partition("/login?token=")[0]


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_link_leads_to_the_first_server_again_when_a_second_one_has_ended(towpath, tmp_path, ending):
    serving = ("serve", "--database", towpath.url, "--port", "0")
    with started(*serving, cwd=tmp_path) as first:
        base, _ = _address(first)
        with started(*serving, cwd=tmp_path) as second:
            other, _ = _address(second)
            assert (_linked(towpath), base == other) == (other, False)
            second.popen.send_signal(ending)
            second.end()
        assert _linked(towpath) == base
        with started(*serving, cwd=tmp_path) as third:
            _address(third)
            third.terminate()
            third.end()
        assert _linked(towpath) == base
        first.terminate()
        first.end()
    assert _linked(towpath) == "http://127.0.0.1:8642"
    assert not list(tmp_path.glob("*-address*"))


def test_a_server_on_other_data_does_not_lead_links_astray(towpath, tmp_path):
    with started("serve", "--database", towpath.url, "--port", "0", cwd=tmp_path) as first:
        base, _ = _address(first)
        with started("serve", "--database", f"sqlite:///{tmp_path}/other.db", "--port", "0", cwd=tmp_path) as second:
            _address(second)
            assert _linked(towpath) == base
            second.terminate()
            second.end()
        assert _linked(towpath) == base
