"""Pure rules: what may happen to a job, and what it means. Nothing here does I/O."""
