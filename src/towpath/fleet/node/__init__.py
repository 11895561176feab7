"""A remote worker: a process that needs neither the database nor any credentials of a cloud, only what tasks bring."""
