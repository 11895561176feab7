"""Other Python job queues, each used as its own documentation recommends for throughput."""
