"""What people do to jobs and queues that are there: cancel, requeue, delete, another priority, a pause. It may ask first."""
