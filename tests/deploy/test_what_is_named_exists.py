"""Every command, setting, port, path and secret that the files of deploy/ name is one that there is."""

from __future__ import annotations

import re
from typing import Any

import pytest
import typer.main
import yaml

from tests.cli.tree import is_group
from tests.deploy.files import DEPLOY, Started, compose, docker_environment, dockerfile, manifests, of_kind, started
from tests.docs.pages import ROOT
from towpath.cli.root import app
from towpath.cli.serve import DEFAULT_PORT
from towpath.config import documented, load
from towpath.server.openapi import document

# Read by libraries, by remote workers themselves, and by Python.
OTHERS = re.compile(r"AWS_[A-Z_]+|TOWPATH_FLEET_TOKEN|PATH|PYTHON[A-Z]+")


ROOT_COMMAND = typer.main.get_command(app)


def parsed(words: tuple[str, ...]) -> Any:
    """As the command line would take it, without running it."""
    command, rest = ROOT_COMMAND, list(words)
    while is_group(command):
        command = command.commands[rest.pop(0)]
    return command.make_context(words[0], rest)


@pytest.mark.parametrize("one", list(started()), ids=lambda one: one.where)
def test_every_command_is_one_that_towpath_takes(one: Started):
    parsed(one.words)


def test_a_misspelt_option_would_be_found():
    with pytest.raises(Exception, match="No such option: --hosst"):
        parsed(("serve", "--hosst", "0.0.0.0"))


def settings_named() -> list[tuple[str, str, str]]:
    found = [(one.where, name, str(value)) for one in started() for name, value in one.environment.items()]
    found += [("Dockerfile", name, value) for name, value in docker_environment()]
    [config] = of_kind("ConfigMap")
    found += [("kubernetes: settings", name, value) for name, value in config["data"].items()]
    lines = (DEPLOY / "systemd/towpath.env").read_text("utf-8").splitlines()
    pairs = [line.split("=", 1) for line in lines if line and not line.startswith("#")]
    return found + [("systemd: towpath.env", name, value) for name, value in pairs if not name.startswith("FLEET_")]


@pytest.mark.parametrize(("where", "name", "value"), settings_named())
def test_every_setting_is_one_that_there_is_and_takes_its_value(where: str, name: str, value: str):
    known = {known for known, _, _ in documented()}
    if OTHERS.fullmatch(name):
        return
    assert name.removesuffix("_FILE") in known, where
    if not name.endswith("_FILE") and "${" not in value:
        load({name: value})


def pods() -> list[tuple[str, dict[str, Any]]]:
    return [(one["metadata"]["name"], one["spec"]["template"]["spec"]) for one in of_kind("Deployment")]


@pytest.mark.parametrize(("name", "pod"), pods(), ids=lambda one: one if isinstance(one, str) else "")
def test_what_a_pod_names_is_there(name: str, pod: dict[str, Any]):
    [container] = pod["containers"]
    volumes = {one["name"]: one for one in pod["volumes"]}
    assert {one["name"] for one in container["volumeMounts"]} == set(volumes)
    [config] = of_kind("ConfigMap")
    for one in container.get("envFrom", ()):
        assert one.get("configMapRef", {}).get("name", config["metadata"]["name"]) == config["metadata"]["name"]
    assert pod["serviceAccountName"] in [one["metadata"]["name"] for one in of_kind("ServiceAccount")]
    where = config["data"]["TOWPATH_DATABASE_URL_FILE"]
    if "database" in volumes:
        [mount] = [one for one in container["volumeMounts"] if one["name"] == "database"]
        assert where.rpartition("/")[0] == mount["mountPath"]
    ports = {one["name"]: one["containerPort"] for one in container.get("ports", ())}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        if probe in container:
            asked = container[probe]["httpGet"]
            assert asked["port"] in ports
            assert asked["path"] in document()["paths"]


def test_a_server_is_asked_where_it_listens():
    [server] = [pod["containers"][0] for name, pod in pods() if name == "towpath-server"]
    assert {"startupProbe", "readinessProbe", "livenessProbe"} <= server.keys()
    assert str(DEFAULT_PORT) in server["args"]
    assert [one["containerPort"] for one in server["ports"]] == [DEFAULT_PORT]
    assert f"EXPOSE {DEFAULT_PORT}" in dockerfile()
    service = compose()["services"]["server"]
    assert service["ports"] == [f"127.0.0.1:{DEFAULT_PORT}:{DEFAULT_PORT}"]
    assert f"http://127.0.0.1:{DEFAULT_PORT}/readyz" in service["healthcheck"]["test"][-1]


def test_services_policies_and_budgets_select_pods_that_there_are():
    labels = [one["spec"]["template"]["metadata"]["labels"] for one in of_kind("Deployment")]

    def meets(wanted: dict[str, str]) -> bool:
        return any(wanted.items() <= one.items() for one in labels)

    for one in of_kind("Deployment"):
        assert one["spec"]["selector"]["matchLabels"].items() <= one["spec"]["template"]["metadata"]["labels"].items()
    for one in of_kind("Service"):
        assert meets(one["spec"]["selector"])
    for one in (*of_kind("PodDisruptionBudget"), *of_kind("NetworkPolicy")):
        selector = one["spec"].get("selector") or one["spec"]["podSelector"]
        assert not selector or meets(selector["matchLabels"])
    services = {one["metadata"]["name"]: one for one in of_kind("Service")}
    for one in of_kind("Ingress"):
        for rule in one["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                assert backend["port"]["name"] in [port["name"] for port in services[backend["name"]]["spec"]["ports"]]


def test_everything_is_in_one_namespace_and_what_is_listed_is_there():
    [customized] = of_kind("Kustomization")
    for name in customized["resources"]:
        assert (DEPLOY / "kubernetes" / name).is_file()
    for one in manifests():
        if one["kind"] not in ("Namespace", "Kustomization"):
            assert one["metadata"]["namespace"] == customized["namespace"]


def test_compose_names_only_secrets_volumes_and_services_that_it_has():
    known = {"image", "build", "restart", "user", "read_only", "tmpfs", "cap_drop", "security_opt", "logging", "command",
             "depends_on", "environment", "secrets", "volumes", "ports", "mem_limit", "cpus", "pids_limit", "healthcheck",
             "stop_grace_period", "profiles", "shm_size"}  # fmt: skip
    whole = compose()
    for name, service in whole["services"].items():
        assert service.keys() <= known, name
        assert set(service.get("secrets", ())) <= whole["secrets"].keys()
        assert {one.partition(":")[0] for one in service["volumes"]} <= whole["volumes"].keys()
        assert service.get("depends_on", {}).keys() <= whole["services"].keys()
        for variable, value in service["environment"].items():
            if variable.endswith("_FILE") and str(value).startswith("/run/secrets/"):
                assert str(value).removeprefix("/run/secrets/") in service["secrets"], name
    assert yaml.safe_dump(whole)


def test_the_image_is_made_of_files_and_targets_that_there_are():
    text = dockerfile()
    kept = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    for name in [line[1:] for line in kept if line.startswith("!")]:
        assert list(ROOT.glob(name)), name
    [targets] = re.findall(r"make ([a-z ]+) &&", text)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in targets.split():
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    assert (ROOT / "requirements-run.lock").is_file()
    assert "-r requirements-run.lock" in text
