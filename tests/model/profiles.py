"""How hard Hypothesis tries: quick in every run, thorough with HYPOTHESIS_PROFILE=thorough."""

import os

from hypothesis import HealthCheck, settings

_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}

settings.register_profile("quick", max_examples=30, stateful_step_count=30, **_PATIENT)
settings.register_profile("thorough", max_examples=400, stateful_step_count=80, print_blob=True, **_PATIENT)


def load() -> None:
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
