"""What people do to jobs that are there: cancel, delete, another priority."""
