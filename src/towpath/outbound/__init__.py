"""Requests to the outside: which addresses may be asked, and how they are signed."""
