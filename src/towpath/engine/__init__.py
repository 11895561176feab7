"""The engine: operations, workers, and what they promise.

`app` and what only it uses stand above the rooms, which look down in this order: `running`, `tending`, `changing`, `asking`.
What several of them share stands below.
"""
