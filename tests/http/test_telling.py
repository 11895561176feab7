"""What the log says of requests: nothing that opens anything, and nothing that only looks like a line of it."""

import logging

import pytest

TOKEN = "tow_0123456789abcdefghij"


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.DEBUG)

    def written():
        return [record.getMessage() for record in caplog.records if record.name == "towpath.http"]

    return written


@pytest.mark.parametrize(
    "path",
    [
        "/shared/hunter2", "/api/shared/hunter2", "/api/shared/hunter2/audio", "/shared/hunt%2Fer2", "/login?token=hunter2",
        "/reset?token=hunter2", "/api/session?token=hunter2", "/api/oidc/callback?code=hunter2&state=hunter2",
        "/shared/hunter2/extra", "/shared/hunter2%0a", "/shared/hunt%0aer2", "/api/shared/%0ahunter2%0d/audio",
    ],
)  # fmt: skip
async def test_what_opens_something_is_not_in_the_log(site, lines, path):
    await site.program().get(path)
    assert lines()
    assert not [line for line in lines() if "er2" in line]


async def test_a_token_in_the_wrong_place_is_not_in_the_log(site, lines):
    await site.program().get(f"/api/jobs/{TOKEN}")
    assert not [line for line in lines() if TOKEN[4:] in line]
    assert any("/api/jobs/tow_***" in line for line in lines())


async def test_a_path_cannot_forge_a_line(site, lines):
    await site.program().get("/x%0a2026-01-01%20[info]%20GET%20/api/jobs%20200%0d%1b[2J%c2%9b1m%e2%80%a8end")
    [line] = lines()
    assert line.isprintable()
    assert "\\n2026" in line
    assert "\\x1b[2J" in line


async def test_an_error_nobody_expected_is_told_without_secrets_too(site, lines, monkeypatch):
    async def broken(_store, _secret):
        raise ZeroDivisionError

    monkeypatch.setattr("towpath.recordings.shares.opened", broken)
    assert (await site.program().get("/api/shared/hunter2")).status_code == 500
    assert len(lines()) >= 2
    assert not [line for line in lines() if "hunter2" in line]
