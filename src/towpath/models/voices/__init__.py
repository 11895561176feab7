"""Voices told apart by what is computed here: where they change, what each stretch of speech sounds like, and which
stretches of a whole recording are one person's.
"""
