"""Server-sent events as bytes. A block without data moves the client's last id and calls nobody."""

from __future__ import annotations


def event(name: str, token: str | None, data: str) -> bytes:
    """`data` is JSON without line breaks. Without a token the client's last id stays what it was."""
    place = "" if token is None else f"id: {token}\n"
    return f"event: {name}\n{place}data: {data}\n\n".encode()


def place(token: str) -> bytes:
    """Where the client stands, although nothing happened that it wants to know."""
    return f"id: {token}\n\n".encode()


def heartbeat(token: str | None) -> bytes:
    return b":\n\n" if token is None else f":\nid: {token}\n\n".encode()


def retry(seconds: float) -> bytes:
    return f"retry: {round(seconds * 1000)}\n\n".encode()
