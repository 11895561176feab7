"""Every part runs as nobody, on a file system that it cannot write to, within limits, and with secrets out of files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.files import DEPLOY, compose, dockerfile, of_kind, service_of, units

OURS = [(name, one) for name, one in compose()["services"].items() if name != "database"]


@pytest.mark.parametrize(("name", "service"), OURS, ids=lambda one: one if isinstance(one, str) else "")
def test_a_service_of_compose_is_closed_in(name: str, service: dict[str, Any]):
    assert service["user"] == "10001:10001"
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert {"mem_limit", "cpus", "pids_limit", "tmpfs"} <= service.keys()


@pytest.mark.parametrize("deployment", of_kind("Deployment"), ids=lambda one: one["metadata"]["name"])
def test_a_pod_meets_the_restricted_standard(deployment: dict[str, Any]):
    pod = deployment["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip
    assert pod["automountServiceAccountToken"] is False
    assert "memory" in container["resources"]["limits"]
    assert {"cpu", "memory"} <= container["resources"]["requests"].keys()


def test_a_worker_has_longer_to_end_than_it_drains():
    for deployment in of_kind("Deployment"):
        pod = deployment["spec"]["template"]["spec"]
        told = {one["name"]: one.get("value") for one in pod["containers"][0].get("env", ())}
        assert pod["terminationGracePeriodSeconds"] > float(told.get("TOWPATH_DRAIN_SECONDS") or 0)
    for _, service in OURS:
        drains = float(service["environment"].get("TOWPATH_DRAIN_SECONDS", 0))
        assert float(service.get("stop_grace_period", "10s").removesuffix("s")) > drains
    for unit in units():
        service = service_of(unit)
        told = dict(line.split("=", 1) for line in service.get("Environment", ()))
        assert float(service["TimeoutStopSec"][0]) > float(told.get("TOWPATH_DRAIN_SECONDS", 0))


def test_no_file_has_a_secret_in_it():
    """Neither an address with a password nor a token: those come from files of their own."""
    for path in DEPLOY.rglob("*"):
        if path.is_file():
            text = path.read_text("utf-8")
            assert not re.search(r"postgres(ql)?://\w+:\w+@", text), path
            assert "tow_" not in text, path
    assert not of_kind("Secret")


def test_the_image_runs_as_nobody_by_number():
    last = [line for line in dockerfile().splitlines() if line.startswith("USER ")][-1]
    assert re.fullmatch(r"USER [1-9]\d{3,}:[1-9]\d{3,}", last)
    assert "--require-hashes" in dockerfile()


CLOSED = {
    "NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes",
    "CapabilityBoundingSet": "", "RestrictSUIDSGID": "yes", "SystemCallArchitectures": "native", "UMask": "0077",
}  # fmt: skip


@pytest.mark.parametrize("unit", units(), ids=lambda one: one.name)
def test_a_unit_of_systemd_is_closed_in(unit: Path):
    service = service_of(unit)
    for name, value in CLOSED.items():
        assert service[name] == [value], name
    assert {"MemoryMax", "TasksMax", "Restart"} <= service.keys()
    assert service["User"] == ["towpath"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not on this machine")
@pytest.mark.parametrize("unit", units(), ids=lambda one: one.name)
def test_systemd_takes_the_unit(unit: Path, tmp_path: Path):
    """With a program of its own in place of ours, which is not installed where it says."""
    text = unit.read_text("utf-8").replace("/opt/towpath/bin/towpath", "/bin/true")
    name = unit.name.replace("@.", "@1.")
    (tmp_path / name).write_text(text.replace("Documentation=file:///usr/share/doc/towpath/how-to/deploy.md\n", ""))
    environment = os.environ | {"SYSTEMD_LOG_LEVEL": "warning"}
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", name], cwd=tmp_path, capture_output=True, text=True, timeout=60,
        check=False, env=environment,
    )  # fmt: skip
    told = [line for line in done.stderr.splitlines() if name in line]
    assert done.returncode == 0, done.stderr
    assert told == []


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not on this machine")
def test_kustomize_puts_the_manifests_together():
    done = subprocess.run(
        ["kubectl", "kustomize", str(DEPLOY / "kubernetes")], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "image: registry.example.org/towpath:0.1.0" in done.stdout
