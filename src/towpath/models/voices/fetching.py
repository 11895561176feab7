"""Brings the voice encoder's weights to this machine: out of a wheel of the package index, without what it depends on.

pip knows the index of this machine, mirrors and all. The weights are written anew as plain arrays, so that nothing has to
open the file they came in again.
"""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from towpath.core.errors import ConfigurationError
from towpath.models.settings import ModelSettings
from towpath.models.voices.checkpoint import weights_in
from towpath.models.voices.encoder import weights_path

NAME = "speakers"
_PACKAGE = "resemblyzer==0.1.4"
_MEMBER = "resemblyzer/pretrained.pt"
_SHA256 = "39373b86598fa3da9fcddee6142382efe09777e8d37dc9c0561f41f0070f134e"
_PATIENCE = 600.0


def pull_encoder(settings: ModelSettings, *, force: bool, report: Callable[[str, int, int | None], None]) -> Path:
    """The directory that holds the weights now."""
    target = weights_path(settings)
    if force or not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            checkpoint = _taken_out(_downloaded(Path(folder)), Path(folder))
            report(NAME, checkpoint.stat().st_size, checkpoint.stat().st_size)
            _written(checkpoint, Path(folder) / target.name).replace(target)
    return target.parent


def _downloaded(folder: Path) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise ConfigurationError(f"{_BY_HAND}; this environment has no pip to fetch it with (python -m ensurepip brings it)")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--dest",
        str(folder),
    ]
    try:
        subprocess.run([*command, _PACKAGE], check=True, capture_output=True, text=True, timeout=_PATIENCE)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise ConfigurationError(f"{_BY_HAND}; pip says: {said[-1] if said else 'nothing'}") from None
    return next(folder.glob("*.whl"))


_BY_HAND = (
    f"{_PACKAGE} cannot be fetched from the package index; name a mirror as pip knows it (PIP_INDEX_URL), or copy "
    "speakers/encoder.npz from another machine into TOWPATH_MODELS_DIR"
)


def _taken_out(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(_MEMBER)
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise ConfigurationError(
            f"{wheel.name} is not what its maker published (wrong checksum); nothing was kept, try again"
        )
    checkpoint = folder / "checkpoint"
    checkpoint.write_bytes(data)
    return checkpoint


def _written(checkpoint: Path, target: Path) -> Path:
    import numpy as np

    weights = weights_in(checkpoint, "model_state")
    with target.open("wb") as file:
        np.savez(
            file, allow_pickle=False, **{name: values for name, values in weights.items() if name[:4] in ("lstm", "line")}
        )
    return target
