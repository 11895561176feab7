"""A job in a worker: claimed, run, its writes fenced and committed together, settled."""
