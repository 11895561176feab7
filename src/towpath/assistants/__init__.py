"""Assistants: programs that talk in the Model Context Protocol find, read, ingest and transcribe here.

Every tool is one or a few requests to the API, made with the assistant's own token, whether the API is in this process or
at the other end of a line. So what an assistant may do and see is what its token may, decided where it is for everybody.
"""

from towpath.assistants.api import Api, LocalFiles
from towpath.assistants.protocol import server_of

__all__ = ["Api", "LocalFiles", "server_of"]
