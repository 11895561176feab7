"""How long an answer waits for what goes on by itself anyway."""

HANDING_OVER = 20.0
"""Seconds for a finished upload to become what it was sent for; as a rule it takes a few hundredths of one."""
