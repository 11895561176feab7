"""A small HTTP server on loopback. It answers what the test laid ready and keeps what it was asked."""

import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    def form(self) -> dict[str, bytes]:
        """Fields and files of a multipart request."""
        message = message_from_bytes(f"content-type: {self.headers['content-type']}\r\n\r\n".encode() + self.body)
        parts = message.get_payload()
        assert isinstance(parts, list)
        return {str(part.get_param("name", header="content-disposition")): part.get_payload(decode=True) for part in parts}


@dataclass
class Answer:
    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait_for: threading.Event | None = None

    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class WireServer:
    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answers: deque[Answer | Callable[[Asked], Answer]] = deque()
        self.always: Callable[[Asked], Answer] | None = None
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def __enter__(self) -> "WireServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        if self.always is not None:
            return self.always(asked)
        laid = self.answers.popleft()
        return laid(asked) if callable(laid) else laid

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                asked = Asked(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body)
                answer = server.answer(asked)
                if answer.wait_for is not None:
                    answer.wait_for.wait(20)
                content = answer.content()
                try:
                    self.send_response(answer.status)
                    for name, value in answer.headers.items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:
                    pass  # the other side did not wait

            def do_GET(self) -> None:
                self.do_POST()

            def log_message(self, format: str, *args: object) -> None: ...

        return Handler
