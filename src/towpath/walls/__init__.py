"""What a process that opens strangers' files does to itself before it looks at one, whatever it reads: audio or documents.

`lock` raises the walls, `inside` is the rest that such programs have in common. Neither imports anything of Towpath, so that
a program can load them by their paths and knows nothing else.
"""
