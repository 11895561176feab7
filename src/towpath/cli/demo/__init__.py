"""The demonstration behind `towpath demo batches`: batches at providers that are played on this machine, with what goes
wrong at real ones.

`scenes` says what is shown, `stage` has the providers' stand-ins, `directing` sends the batches, `telling` says in plain
words what becomes of them.
"""
