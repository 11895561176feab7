"""A job in a worker: claimed, run, its writes fenced and committed together, settled. Every worker also tends all jobs."""
