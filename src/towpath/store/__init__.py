"""Durable state: one contract, two databases."""
