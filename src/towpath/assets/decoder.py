"""The program that opens strangers' audio and video, run by `media.py` as a process of its own: decoder.py JSON

It imports nothing of Towpath, holds no secrets, and locks itself in before it touches the file (`walls/lock.py`). It knows
no path: the file comes as an open descriptor, the audio goes to standard output, and its answer, as JSON, to a pipe of its
own. It ends itself when its standard input ends, which is when whoever started it is gone.
"""

import contextlib
import importlib.util
import json
import os
import pkgutil
import sys
from pathlib import Path
from typing import Any, BinaryIO

RATE = 16_000
BYTES_PER_SECOND = RATE * 2
_MOST_DAMAGE = 1000
# Demuxers that can make the decoder open other files or addresses, such as playlists, are not among them.
_FORMATS = "mp3,aac,mov,mp4,m4a,3gp,3g2,mj2,ogg,matroska,webm,flac,wav,w64,amr,amrnb,amrwb"


class Refused(Exception):
    """For the user: what is wrong with the file, and what to do."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.remedy = remedy


def limit(limits: dict[str, Any]) -> None:
    walls("inside").limit(limits["memory_mb"], limits["cpu_seconds"])


def locked_in(wanted: list[str]) -> list[str]:
    """Answers which of the walls stand."""
    inside = walls("inside")
    stand: list[str] = walls("lock").put_on(wanted, lambda: inside.watch_the_parent(0))
    return stand


def walls(part: str) -> Any:
    """By its path: nothing of Towpath is imported here."""
    found = importlib.util.spec_from_file_location(part, Path(__file__).parents[1] / "walls" / f"{part}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def opened(av: Any, source: BinaryIO) -> Any:
    try:
        return av.open(source, options={"protocol_whitelist": "none", "format_whitelist": _FORMATS})
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
    """16 kHz mono in 16 bits, to standard output as it comes."""

    def __init__(self, longest: float) -> None:
        self._most, self._longest, self.bytes = int(longest * BYTES_PER_SECOND), longest, 0

    def write(self, data: bytes) -> None:
        self.bytes += len(data)
        if self.bytes > self._most:
            raise Refused(
                f"the audio is longer than the {self._longest / 3600:g} hours that are decoded here",
                "cut it into parts",
            )
        sys.stdout.buffer.write(data)


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


def decode(av: Any, source: BinaryIO, longest: float) -> dict[str, Any]:
    with opened(av, source) as container:
        found = described(av, container)
        stream = container.streams.audio[0]
        stream.codec_context.thread_count = 1
        output = Output(longest)
        resampling = Resampling(av, output)
        found["damaged_packets"] = _decode_packets(av, container, stream, resampling)
        resampling.flush()
        sys.stdout.buffer.flush()
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


def loaded() -> Any:
    """The library with all its parts. Some it loads when a file needs them, which is when nothing can be opened any more."""
    import av

    for part in pkgutil.walk_packages(av.__path__, "av."):
        if part.name not in ("av.__main__", "av.datasets"):
            importlib.import_module(part.name)
    av.logging.set_level(None)
    return av


def work(asked: dict[str, Any]) -> dict[str, Any]:
    av = loaded()
    source = os.fdopen(asked["source"], "rb", buffering=0)
    walls = locked_in(asked["walls"])
    if not asked["audio"]:
        with opened(av, source) as container:
            found = described(av, container)
    else:
        found = decode(av, source, asked["limits"]["longest_seconds"])
    return {"info": found, "walls": walls}


def main() -> None:
    asked, inside = json.loads(sys.argv[1]), walls("inside")
    try:
        limit(asked["limits"])
        answer = work(asked)
    except Refused as error:
        answer = {"refused": str(error), "remedy": error.remedy}
    except ImportError as error:
        answer = {"memory": True} if inside.out_of_memory(error) else {"missing": str(error)}
    except Exception as error:
        answer = {"memory": True} if inside.out_of_memory(error) else {"failed": f"{type(error).__name__}: {error}"}
    os.write(asked["answer"], json.dumps(answer).encode())
    os._exit(0)  # nothing of the file's has a last word


if __name__ == "__main__":
    main()
