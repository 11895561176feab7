"""A chat service that answers after so long, and does as little else as can be: what is measured is who asks it."""

import asyncio
import json
from functools import partial

ANSWER_SECONDS = 0.05
_ANSWER = {
    "model": "bench",
    "choices": [{"message": {"role": "assistant", "content": "A miller. " * 20}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 20, "completion_tokens": 60},
}


def serve(host: str, port: int) -> None:
    asyncio.run(_serve(host, port))


async def _serve(host: str, port: int) -> None:
    body = json.dumps(_ANSWER).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    server = await asyncio.start_server(partial(_answer, head.encode() + body), host, port)
    async with server:
        await server.serve_forever()


async def _answer(answer: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.split(b":")[1]))
            await asyncio.sleep(ANSWER_SECONDS)
            writer.write(answer)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
