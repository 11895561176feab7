"""What people ask of jobs, queues and events. Nothing in here changes anything, and it knows none of the other rooms."""
