"""The log of serve and worker: every entry is its own, whatever strangers put into it."""

import io
import json
import logging

import pytest

from towpath.cli.logs import _formatter

FORGED = "/x\n2026-01-01 [info     ] all is well\r\x1b[2J\x9b1m\u2028"


def logged(*, as_json, fails=False):
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(_formatter(as_json=as_json, colors=False))
    log = logging.Logger("towpath.http")
    log.addHandler(handler)
    try:
        raise ValueError(FORGED) if fails else KeyError
    except Exception as error:
        log.error("GET %s", FORGED, exc_info=error if fails else None)
    return out.getvalue()


@pytest.mark.parametrize("as_json", [True, False], ids=["JSON", "text"])
def test_nothing_from_outside_makes_a_line_of_its_own(as_json):
    text = logged(as_json=as_json)
    assert text.count("\n") == 1
    assert text.rstrip("\n").isprintable()
    assert "all is well" in text
    if as_json:
        assert "\\n2026" in json.loads(text)["event"]


def test_the_message_of_an_error_does_not_make_one_either():
    first, *others = logged(as_json=False, fails=True).splitlines()
    assert "GET /x\\n2026" in first
    assert others
    assert all(line.startswith("    ") and line.isprintable() for line in others if line)
    assert any("all is well" in line for line in others)
