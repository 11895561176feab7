"""Hypothesis measures no test's time, whichever part of the tests is run."""

from hypothesis import HealthCheck, settings


def test_a_busy_machine_fails_no_property():
    assert settings.default is not None
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check
