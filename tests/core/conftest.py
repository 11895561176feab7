"""The profile is loaded before the first test of this folder is built."""

from tests.model import profiles

profiles.load()
