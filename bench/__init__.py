"""Towpath measured against the raw-SQL floor and against its peers. Run it with `python -m bench`.

Every figure that matters is a ratio within one run: the reference is measured before and after each subject, because
absolute rates on a shared machine wander by a factor of two while ratios hold.
"""
