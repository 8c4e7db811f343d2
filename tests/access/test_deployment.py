"""What installs the program for a team: systemd's units, the image and the compose file, as far as they can be tried without a container engine."""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from explorer.server import environment as settings_reader
from groups.places import VERSION
from tests.conftest import missing
from tests.house import ROOT
from tests.serving import served

UNITS = sorted((ROOT / "docs/deploy/systemd").glob("*.service"))
PROGRAM = "/opt/rebalance-explorer/bin/rebalance-explorer"
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
OURS = {name: each for name, each in COMPOSE["services"].items() if "build" in each}
CHART: dict[str, Any] = yaml.safe_load((ROOT / "docs/deploy/helm/Chart.yaml").read_text())
BUILD_MOST_S = 600

pytestmark = pytest.mark.once


def checked(*command: str) -> str:
    """What a program that checks a file has to say; nothing, if the file is right."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def wrong_options(words: list[str]) -> list[str]:
    """The options of a command of ours that it does not have."""
    command, *rest = words
    return [word for word in rest if word.startswith("--") and word not in help_of(command)]


@functools.cache
def help_of(command: str) -> str:
    return subprocess.run(
        [sys.executable, "manage.py", command, "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_finds_nothing_wrong_with_a_unit(unit: Path, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        missing("systemd-analyze is not installed")
    # It looks for the program, too, which is not installed there.
    copy = tmp_path / unit.name.replace("@", "@runs")
    copy.write_text(unit.read_text().replace(PROGRAM, sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    of_ours = [line for line in (done.stdout + done.stderr).splitlines() if "rebalance-explorer" in line]
    assert of_ours == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_starts_a_command_with_options_that_it_has(unit: Path) -> None:
    (line,) = re.findall(rf"^ExecStart={PROGRAM} (.*)$", unit.read_text(), re.MULTILINE)
    assert wrong_options(line.split()) == []


def test_hadolint_finds_nothing_wrong_with_the_dockerfile() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run(
        [str(hadolint), "Dockerfile"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_compose_file_is_one_by_the_compose_specification() -> None:
    assert checked("check_jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml") == ""


@pytest.mark.parametrize("name", OURS)
def test_a_service_of_the_compose_file_starts_a_command_with_options_that_it_has(name: str) -> None:
    assert wrong_options([str(word) for word in OURS[name]["command"]]) == []


def test_the_compose_file_sets_what_the_settings_page_has_and_serves_each_queue() -> None:
    page = (ROOT / "docs/reference/settings.md").read_text()
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE))
    assert {name for each in OURS.values() for name in each["environment"]} <= documented
    served_queues = {
        each["command"][each["command"].index("--queues") + 1]
        for each in OURS.values()
        if "worker" in each["command"]
    }
    assert served_queues == {"runs", "imports"}
    watching = [name for name, each in OURS.items() if each["environment"]["WATCH_CLUSTERS"] == "1"]
    assert watching == ["watcher"]


def test_the_compose_file_keeps_each_process_from_writing_beyond_its_folder() -> None:
    for each in OURS.values():
        assert each["read_only"]
        assert each["cap_drop"] == ["ALL"]
        assert each["volumes"] == ["kept:/var/lib/rebalance-explorer"]
    assert settings_reader.LOGINS[0] == OURS["web"]["environment"]["LOGIN"]


def test_the_charts_values_are_checked_by_their_schema_and_its_version_is_the_programs(
    tmp_path: Path,
) -> None:
    assert {CHART[key] for key in ("version", "appVersion")} == {VERSION}
    schema = "docs/deploy/helm/values.schema.json"
    values = yaml.safe_load((ROOT / "docs/deploy/helm/values.yaml").read_text())
    given = {
        "right": {"host": "rebalance.internal", "secret": "explorer"},
        "no-host": {"secret": "explorer"},
        "misspelt": {"host": "a.example", "secret": "s", "replica": 2},
        "no-server": {"host": "a.example", "secret": "s", "web": {"replicas": 0}},
    }
    for name, some in given.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(values | some))
    said = checked("check_jsonschema", "--schemafile", schema, *sorted(map(str, tmp_path.glob("*.yaml"))))
    wrong = set(re.findall(r"([a-z-]+)\.yaml::(\S+):", said))
    assert wrong == {("no-host", "$.host"), ("misspelt", "$"), ("no-server", "$.web.replicas")}


def test_helm_makes_the_processes_of_the_compose_file() -> None:
    """Helm comes with no package of ours, so this runs where it is installed."""
    helm = shutil.which("helm")
    if helm is None:
        pytest.skip("helm is not installed")
    made = subprocess.run(
        [helm, "template", "x", "docs/deploy/helm", "--kube-version", "1.31.0", "--set", "host=a.example,secret=s"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    resources = [each for each in yaml.safe_load_all(made.stdout) if each]
    pods = {
        each["metadata"]["name"].removeprefix("x-"): each["spec"]["template"]["spec"]["containers"][0]
        for each in resources
        if each["kind"] == "Deployment"
    }
    assert {name: pod["args"] for name, pod in pods.items()} == {
        name: each["command"] for name, each in OURS.items()
    } | {"watcher": OURS["web"]["command"]}
    for name, pod in pods.items():
        settings = {each["name"]: each["value"] for each in pod["env"]}
        assert settings.keys() | {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "CLUSTERS_KEY"} == set(
            OURS[name]["environment"]
        )
        assert pod["securityContext"]["readOnlyRootFilesystem"]


Step = tuple[str, str]


def steps_of(stage: str) -> list[Step]:
    """The instructions of a stage of the Dockerfile, each as one line."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    found: list[Step] = []
    inside = False
    for line in filter(None, lines):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            inside = rest.endswith(f" AS {stage}")
        elif inside:
            found.append((word, rest))
    assert found
    return found


@pytest.mark.long
def test_the_images_steps_make_a_program_that_serves_and_is_healthy(tmp_path: Path) -> None:
    """The commands of the stage ``build``, in a folder in place of the container; then the start and the health check of the image."""
    uv = subprocess.run(
        [sys.executable, "explorer/bootstrap.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if uv.returncode:
        missing("uv is neither here nor to be had")
    source = tmp_path / "source"
    source.mkdir()
    settings = {"PATH": f"{Path(uv.stdout.strip()).parent}:/usr/local/bin:/usr/bin:/bin"}

    def moved(text: str) -> str:
        return re.sub(r"(?<![\w$}])/(?=(?:opt|tmp)/)", f"{tmp_path}/", text)

    (tmp_path / "tmp").mkdir()
    for word, rest in steps_of("build"):
        if word == "ENV":
            settings |= dict(pair.split("=", 1) for pair in shlex.split(rest))
        elif word == "COPY":
            *names, to = rest.split()
            for name in names:
                place = source / to / Path(name).name if to.endswith("/") else source / to
                place.parent.mkdir(parents=True, exist_ok=True)
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy2(ROOT / name, place)
        elif word == "RUN" and not rest.startswith("pip install"):
            done = subprocess.run(
                ["/bin/sh", "-c", moved(rest)], cwd=source, env=inherited() | settings,
                capture_output=True, text=True, timeout=BUILD_MOST_S, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr[-2000:]

    base = dict(steps_of("base"))
    image = dict(pair.split("=", 1) for pair in shlex.split(base["ENV"]))
    program = moved(PROGRAM)
    kept = tmp_path / "kept"
    kept.mkdir()
    with served(
        kept, [program, *start_words(base["CMD"]), "--port", "0"], tmp_path, fresh=True, LOGIN=image["LOGIN"]
    ) as server:
        assert server.url.startswith("http://0.0.0.0:")
        port = server.url.rpartition(":")[2]
        python, *words = start_words(base["HEALTHCHECK"].partition(" CMD ")[2])
        assert python == "python"
        check = [word.replace(":8000", f":{port}") for word in words]
        subprocess.run([Path(program).with_name("python"), *check], cwd=tmp_path, timeout=60, check=True)
        asked = subprocess.run(
            [Path(program).with_name("python"), "-c", f"import urllib.request as r; print(r.urlopen('http://localhost:{port}/').url)"],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert "/sign-in" in asked.stdout


def inherited() -> dict[str, str]:
    """What this machine has set for the package index and its certificates, and nothing that names the tests' environment."""
    left_out = ("VIRTUAL_ENV", "PYTHON", "DJANGO", "COV")
    return {name: value for name, value in os.environ.items() if not name.startswith(left_out)}


def start_words(text: str) -> list[str]:
    words: list[str] = yaml.safe_load(text)
    return words
