"""The commands of a fleet: orchestrators, remote workers, their tokens, and tasks."""
