"""The floor: the fewest SQL statements that do the durable work of a job, with nothing of an engine around them.

One job table with the partial ready index and three event rows per job (created, started, succeeded) behind one index.
"""
