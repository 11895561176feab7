"""What keeps every job moving although nobody is in charge: rescue, timers, gates, schedules, counts, pruning.

It changes and asks as people do, and knows nothing of the worker that it goes on in.
"""
