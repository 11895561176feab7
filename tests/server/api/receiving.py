"""A receiver of webhooks: a real HTTP server that keeps what it is sent and answers as it is told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Message:
    headers: dict[str, str]
    body: bytes

    @property
    def content(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """`answers` are given in turn, the last one for ever; each is a status, or a status and headers."""

    url: str
    messages: list[Message] = field(default_factory=list)
    answers: list[Any] = field(default_factory=lambda: [200])

    def take(self, message: Message) -> tuple[int, dict[str, str]]:
        self.messages.append(message)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer if isinstance(answer, tuple) else (answer, {})

    @property
    def types(self) -> list[str]:
        return [message.content["type"] for message in self.messages]

    @property
    def jobs(self) -> list[str]:
        return [message.content["job"]["id"] for message in self.messages]


@contextmanager
def receiving() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status, headers = receiver.take(Message(dict(self.headers.items()), body))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(f"http://127.0.0.1:{server.server_port}/hook?key=of-the-receiver")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
