"""Behind `towpath ingest`: what is to be read, where that is done, what is shown meanwhile."""
