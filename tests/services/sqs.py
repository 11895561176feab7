"""A real SQS endpoint for tests: MiniStack from the lock, a process of its own on 127.0.0.1. Its S3 sends events there."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Self


class SqsMissing(Exception):
    pass


class SqsServer:
    """Queues live in its memory: `kill` and `start` again are a broker that lost everything. `freeze` holds it up."""

    def __init__(self, port: int | None = None) -> None:
        if find_spec("ministack") is None:
            raise SqsMissing("make install brings it")
        self._home = Path(tempfile.mkdtemp(prefix="towpath-sqs-"))
        self.port = port or random.randrange(22_000, 31_000)
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.env = {
            "AWS_ACCESS_KEY_ID": "towpath",
            "AWS_SECRET_ACCESS_KEY": "not-so-secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
            # It knows nothing of the machine's own account.
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def start(self) -> None:
        surroundings = {
            "PATH": os.defpath,
            "HOME": str(self._home),
            "TMPDIR": str(self._home),
            "S3_DATA_DIR": str(self._home / "s3"),
            "GATEWAY_PORT": str(self.port),
            "BIND_HOST": "127.0.0.1",
            "MINISTACK_HOST": "127.0.0.1",
            "SERVICES": "s3,sqs",
            # It would listen on ports of their own otherwise.
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
        }
        with (self._home / "log").open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ministack"], cwd=self._home, env=surroundings,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + 60
        while not self._ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = (self._home / "log").read_text(errors="replace")[-2000:]
                self.close()
                raise RuntimeError(f"the SQS endpoint did not start: {said}")
            time.sleep(0.05)

    def freeze(self) -> None:
        """It still holds its connections, and answers nothing until it is thawed."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGCONT)

    def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self._home, ignore_errors=True)

    def _ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.endpoint}/_ministack/health", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False
