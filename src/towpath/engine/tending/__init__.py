"""What keeps every job moving although nobody is in charge: rescue, timers, gates, schedules, counts, pruning."""
