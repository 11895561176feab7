"""The program that opens strangers' audio and video, run by `media.py` as a process of its own: decoder.py JSON

It imports nothing of Towpath, holds no secrets, and sets its own limits before it touches the file. It ends itself when
its standard input ends, which is when whoever started it is gone. Its last line of output is its answer, as JSON.
"""

import contextlib
import json
import os
import resource
import signal
import struct
import sys
import threading
from typing import Any

RATE = 16_000
BYTES_PER_SECOND = RATE * 2
_WAV_HEADER = 44
_MOST_DAMAGE = 1000
# Demuxers that can make the decoder open other files or addresses, such as playlists, are not among them.
_FORMATS = "mp3,aac,mov,mp4,m4a,3gp,3g2,mj2,ogg,matroska,webm,flac,wav,w64,amr,amrnb,amrwb"


class Refused(Exception):
    """For the user: what is wrong with the file, and what to do."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.remedy = remedy


def limit(limits: dict[str, Any]) -> None:
    memory = limits["memory_mb"] * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (limits["cpu_seconds"], limits["cpu_seconds"] + 1))
    largest = int(limits["longest_seconds"] * BYTES_PER_SECOND) + _WAV_HEADER + BYTES_PER_SECOND
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def end_with_the_parent() -> None:
    sys.stdin.buffer.read()
    os.killpg(os.getpgrp(), signal.SIGKILL)


def opened(av: Any, path: str) -> Any:
    try:
        return av.open(path, options={"protocol_whitelist": "file", "format_whitelist": _FORMATS})
    except (av.error.FFmpegError, ValueError) as error:
        raise Refused(
            f"the file cannot be read as audio or video ({reason(error)}); it may be damaged or only a part of it",
            "play it where it comes from, and send the whole file again or convert it",
        ) from None


def reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)[:200]


def described(av: Any, container: Any) -> dict[str, Any]:
    if not container.streams.audio:
        raise Refused("the file has no audio track", "send a recording that has sound")
    stream = container.streams.audio[0]
    declared = container.duration / av.time_base if container.duration and container.duration > 0 else None
    context = stream.codec_context
    if context is None:
        raise Refused("the audio is in a format that cannot be decoded here", "convert it to mp3, m4a or wav")
    return {
        "duration_seconds": declared,
        "codec": context.name,
        "container": container.format.name,
        "channels": context.channels or 0,
        "sample_rate": context.sample_rate or 0,
        "has_video": any(_moves(video) for video in container.streams.video),
        "damaged_packets": 0,
    }


def _moves(video: Any) -> bool:
    """A cover image is a video stream too, of one picture."""
    with contextlib.suppress(AttributeError):
        return "attached_pic" not in str(video.disposition).lower()
    return True


class Output:
    """16 kHz mono in 16 bits, written as it comes; a `.wav` gets its header when the length is known."""

    def __init__(self, path: str, longest: float) -> None:
        self._file = open(path, "wb")  # noqa: SIM115  (closed by close)
        self._is_wav, self._most = path.endswith(".wav"), int(longest * BYTES_PER_SECOND)
        self._longest, self.bytes = longest, 0
        if self._is_wav:
            self._file.write(b"\0" * _WAV_HEADER)

    def write(self, data: bytes) -> None:
        self.bytes += len(data)
        if self.bytes > self._most:
            raise Refused(
                f"the audio is longer than the {self._longest / 3600:g} hours that are decoded here",
                "cut it into parts",
            )
        self._file.write(data)

    def close(self) -> None:
        if self._is_wav:
            self._file.seek(0)
            size = min(self.bytes, 0xFFFFFFFF - 36)
            self._file.write(
                struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", size + 36, b"WAVE", b"fmt ", 16, 1, 1, RATE, BYTES_PER_SECOND,
                            2, 16, b"data", size)
            )  # fmt: skip
        self._file.close()


class Resampling:
    """Streams may change their rate or their channels on the way; every change gets a resampler of its own."""

    def __init__(self, av: Any, output: Output) -> None:
        self._av, self._output = av, output
        self._now: Any = None
        self._shape: Any = None

    def add(self, frame: Any) -> None:
        shape = (frame.format.name, frame.layout.name, frame.sample_rate)
        if shape != self._shape:
            self.flush()
            self._now, self._shape = self._av.AudioResampler(format="s16", layout="mono", rate=RATE), shape
        frame.pts = None  # gaps in the file's own clock are no audio
        self._write(self._now.resample(frame))

    def flush(self) -> None:
        if self._now is not None:
            self._write(self._now.resample(None))
            self._now = self._shape = None

    def _write(self, frames: list[Any]) -> None:
        for frame in frames:
            self._output.write(bytes(frame.planes[0])[: frame.samples * 2])


def decode(av: Any, path: str, target: str, longest: float) -> dict[str, Any]:
    with opened(av, path) as container:
        found = described(av, container)
        stream = container.streams.audio[0]
        stream.codec_context.thread_count = 1
        output = Output(target, longest)
        resampling = Resampling(av, output)
        found["damaged_packets"] = _decode_packets(av, container, stream, resampling)
        resampling.flush()
        output.close()
    found["duration_seconds"] = output.bytes / BYTES_PER_SECOND
    if not output.bytes and found["damaged_packets"]:
        raise Refused("none of the audio can be decoded; the file is damaged", "send the whole file again or convert it")
    return found


def _decode_packets(av: Any, container: Any, stream: Any, resampling: Resampling) -> int:
    """Passes over what is damaged, as players do; answers how many packets that were."""
    damaged, packets = 0, container.demux(stream)
    while damaged < _MOST_DAMAGE:
        try:
            packet = next(packets, None)
        except av.error.FFmpegError:
            return damaged + 1  # the container itself ends here
        if packet is None:
            return damaged
        try:
            frames = packet.decode()
        except av.error.EOFError:
            continue
        except av.error.FFmpegError:
            damaged += 1
            continue
        for frame in frames:
            resampling.add(frame)
    return damaged


def work(asked: dict[str, Any]) -> dict[str, Any]:
    import av

    av.logging.set_level(None)
    if asked["target"] is None:
        with opened(av, asked["path"]) as container:
            return described(av, container)
    return decode(av, asked["path"], asked["target"], asked["limits"]["longest_seconds"])


def out_of_memory(error: Exception) -> bool:
    """Python, the decoder and the loader of libraries each say it in their own way."""
    told = ("Cannot allocate memory", "failed to map segment", "cannot allocate")
    return isinstance(error, MemoryError) or any(words in str(error) for words in told)


def main() -> None:
    asked = json.loads(sys.argv[1])
    threading.Thread(target=end_with_the_parent, daemon=True).start()
    try:
        limit(asked["limits"])
        answer: dict[str, Any] = {"info": work(asked)}
    except Refused as error:
        answer = {"refused": str(error), "remedy": error.remedy}
    except ImportError as error:
        answer = {"memory": True} if out_of_memory(error) else {"missing": str(error)}
    except Exception as error:
        answer = {"memory": True} if out_of_memory(error) else {"failed": f"{type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    os._exit(0)  # nothing of the file's has a last word


if __name__ == "__main__":
    main()
