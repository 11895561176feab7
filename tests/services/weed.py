"""A real S3 server for tests: SeaweedFS from the lock, on 127.0.0.1, in a directory and a session of its own."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

BUCKET = "towpath"
_PORTS = ("master", "volume", "filer", "s3", "admin")


class WeedMissing(Exception):
    pass


class WeedServer:
    def __init__(self) -> None:
        program = Path(sys.executable).with_name("weed")
        if not program.exists():
            raise WeedMissing("make install brings it")
        self._home = Path(tempfile.mkdtemp(prefix="towpath-weed-"))
        self.env = {"AWS_ACCESS_KEY_ID": "towpath", "AWS_SECRET_ACCESS_KEY": "not-so-secret", "AWS_REGION": "us-east-1"}
        ports = dict(zip(_PORTS, random.sample(range(15_000, 22_000), len(_PORTS)), strict=True))
        self.endpoint = f"http://127.0.0.1:{ports['s3']}"
        self.env |= {"AWS_ENDPOINT": self.endpoint, "AWS_ALLOW_HTTP": "true"}
        self._command = [
            str(program), "mini", f"-dir={self._home}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false",
            "-admin.ui=false", "-webdav=false", f"-bucket={BUCKET}",
            *(f"-{name}.port={port}" for name, port in ports.items()),
            *(f"-{name}.port.grpc={port + 9_000}" for name, port in ports.items()),
        ]  # fmt: skip
        self._client = boto3.Session("towpath", "not-so-secret", region_name="us-east-1").client(
            "s3",
            endpoint_url=self.endpoint,
            config=Config(connect_timeout=2, read_timeout=2, retries={"total_max_attempts": 1}),
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self._home / "log").open("w") as log:
            self._process = subprocess.Popen(
                self._command, cwd=self._home, env={"PATH": os.defpath, "HOME": str(self._home), **self.env},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + 60
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = (self._home / "log").read_text(errors="replace")[-2000:]
                self.close()
                raise RuntimeError(f"weed mini did not start: {said}")
            time.sleep(0.05)

    def _ready(self) -> bool:
        """Whether it has its bucket, too: that comes a moment after it has begun to answer."""
        try:
            self._client.head_bucket(Bucket=BUCKET)
        except (ClientError, BotoCoreError):
            return False
        return True

    def kill(self) -> None:
        """SIGKILL: it may ignore SIGTERM."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self._home, ignore_errors=True)
