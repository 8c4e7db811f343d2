"""``pip install .`` gives a program that works: the wheel, built and installed into an environment of its own."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from explorer.command_line import COMMANDS
from groups.places import VERSION, data_folder
from tests.conftest import missing
from tests.house import ROOT, release
from tests.serving import served

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TAKEN_BY_OTHERS = {"static", "groups", "templates", "tests", "simulations", "explorer", "docs", "manage.py"}
BUILD_MOST_S = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A program in an environment of its own, with a user who has a data folder of their own."""

    program: Path
    packages: Path
    data: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {
            k: v for k, v in os.environ.items() if k not in {"DATABASE_URL", "REDIS_URL", "REBALANCE_VAR"}
        }
        environment |= {"XDG_DATA_HOME": str(self.data), "HOME": str(self.data)}
        return subprocess.run(
            [str(self.program), *words],
            cwd=self.data, env=environment, capture_output=True, text=True, timeout=BUILD_MOST_S, check=False,
        )  # fmt: skip


def uv_program() -> str:
    uv = subprocess.run(
        [sys.executable, "explorer/bootstrap.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if uv.returncode:
        missing("uv is neither here nor to be had")
    return uv.stdout.strip()


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files of a release by their ending; the build backend comes from uv's cache or from the package index."""
    return release_in(tmp_path_factory.mktemp("dist"))


def release_in(folder: Path) -> dict[str, Path]:
    try:
        return {path.suffix: path for path in release.build(folder, uv_program())}
    except RuntimeError as problem:
        if "hatchling" in str(problem):
            missing("the build backend is neither in uv's cache nor to be had")
        raise


@pytest.fixture(scope="module")
def wheel(released: dict[str, Path]) -> Path:
    """The wheel that is made from the sdist."""
    return released[".whl"]


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel as an installer unpacks it, offline: what it needs comes from the environment of the tests."""
    place = tmp_path_factory.mktemp("installed")
    venv.create(place / "venv", with_pip=True)
    python = place / "venv" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(install, check=True, timeout=BUILD_MOST_S)
    (packages,) = (place / "venv").glob("lib/python*/site-packages")
    (borrowed,) = (path for path in map(Path, sys.path) if path.name == "site-packages")
    (packages / "borrowed.pth").write_text(f"{borrowed}\n")
    data = place / "data"
    data.mkdir()
    return Installed(program=python.with_name("rebalance-explorer"), packages=packages, data=data)


def test_a_wheel_puts_one_name_into_site_packages_and_none_that_others_have(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"rebalance_explorer"}
    assert not tops & TAKEN_BY_OTHERS


def test_a_wheel_holds_every_file_of_the_program_and_no_test(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name.removeprefix("rebalance_explorer/") for name in archive.namelist()}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    rooms = ("explorer/", "groups/", "simulations/", "templates/", "static/")
    wanted = {
        name for name in tracked.stdout.splitlines() if name.startswith(rooms) and (ROOT / name).exists()
    }
    assert wanted - held == {"explorer/bootstrap.py", "explorer/installed.py"}
    assert not [name for name in held if name.startswith("tests/") or "/var/" in name]


@pytest.mark.long
def test_another_program_imports_the_client_and_nothing_of_ours_comes_along(program: Installed) -> None:
    code = (
        "import sys; before = list(sys.path); from rebalance_explorer.client import Client; "
        "assert sys.path == before; print(sorted({'explorer', 'django', 'groups'} & set(sys.modules)))"
    )
    python = program.program.with_name("python")
    done = subprocess.run([python, "-c", code], cwd=program.data, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.long
def test_the_installed_program_tells_the_products_version_and_lists_its_commands(program: Installed) -> None:
    assert program.run("--version").stdout == f"rebalance-explorer {VERSION}\n"
    said = program.run("help").stdout
    assert all(
        f"\n{group}:" in said and all(f"  {name} " in said for name in COMMANDS[group]) for group in COMMANDS
    )


def test_the_wheel_runs_without_being_installed(wheel: Path, tmp_path: Path) -> None:
    """As ``uvx`` does it; the packages come from uv's cache or from the package index."""
    words = [
        "tool",
        "run",
        "--python",
        sys.executable,
        "--from",
        str(wheel),
        "rebalance-explorer",
        "--version",
    ]
    ran = subprocess.run(
        [uv_program(), *words], cwd=tmp_path, env={**os.environ, "UV_TOOL_DIR": str(tmp_path / "tools")},
        capture_output=True, text=True, timeout=BUILD_MOST_S, check=False,
    )  # fmt: skip
    if ran.returncode and ("No solution found" in ran.stderr or "Failed to" in ran.stderr):
        missing("the packages are neither in uv's cache nor to be had")
    assert (ran.returncode, ran.stdout) == (0, f"rebalance-explorer {VERSION}\n"), ran.stderr


def test_the_installed_program_keeps_its_data_in_the_users_folder_and_none_beside_its_code(
    program: Installed,
) -> None:
    before = {path for path in program.packages.rglob("*") if "__pycache__" not in path.parts}
    listed = program.run("timeline", "list")
    assert listed.returncode == 0, listed.stderr
    assert (program.data / "rebalance-explorer" / "rebalance-explorer.sqlite3").is_file()
    after = {path for path in program.packages.rglob("*") if "__pycache__" not in path.parts}
    assert after == before


@pytest.mark.spark
def test_the_installed_program_imports_the_sample(program: Installed, spark_can_start: None) -> None:
    done = program.run(
        "import_log", str(program.packages / "rebalance_explorer" / "groups" / "samples" / "orders-enrich")
    )
    assert done.returncode == 0, done.stderr
    assert '"group":"orders-enrich"' in done.stdout.replace(": ", ":")


@pytest.mark.long
def test_the_installed_program_serves_its_first_page(program: Installed, tmp_path: Path) -> None:
    command = [str(program.program), "serve", "--port", "0"]
    with served(tmp_path, command, cwd=tmp_path) as server, server.open("/") as page:
        assert "KIP-848" in page.read().decode()


def test_the_version_stands_in_one_place_and_the_project_file_says_the_same() -> None:
    assert PROJECT["project"]["version"] == VERSION
    assert re.search(
        rf"^## {re.escape(VERSION)} \(\d{{4}}-\d\d-\d\d\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )


def test_the_extra_is_the_group_that_a_clone_installs() -> None:
    assert PROJECT["project"]["optional-dependencies"]["pipeline"] == PROJECT["dependency-groups"]["pipeline"]


def test_help_lists_exactly_our_commands() -> None:
    present = {
        path.stem
        for room in ("explorer", "groups", "simulations")
        for path in (ROOT / room / "management" / "commands").glob("[a-z]*.py")
    }
    assert {name for group in COMMANDS.values() for name in group} == present


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"HOME": "/h"}, "/h/.local/share/rebalance-explorer"),
        ("linux", {"HOME": "/h", "XDG_DATA_HOME": "/x"}, "/x/rebalance-explorer"),
        ("linux", {"HOME": "/h", "XDG_DATA_HOME": "relative"}, "/h/.local/share/rebalance-explorer"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Application Support/rebalance-explorer"),
        ("linux", {"HOME": "/h", "REBALANCE_VAR": "/named"}, "/named"),
    ],
)
def test_an_installed_program_keeps_its_data_where_the_system_says(
    platform: str, environment: dict[str, str], expected: str, tmp_path: Path
) -> None:
    assert data_folder(tmp_path, environment=environment, platform=platform) == Path(expected)


def test_a_clone_keeps_its_data_beside_manage_py() -> None:
    assert data_folder(ROOT, environment={}) == ROOT / "var"


@pytest.mark.long
def test_the_same_commit_gives_a_release_of_the_same_bytes(released: dict[str, Path], tmp_path: Path) -> None:
    again = release_in(tmp_path / "again")
    assert {path.name: path.read_bytes() for path in again.values()} == {
        path.name: path.read_bytes() for path in released.values()
    }


def test_a_release_lists_every_locked_package_and_every_file_of_others(released: dict[str, Path]) -> None:
    listed = {part["name"] for part in json.loads(released[".json"].read_text())["components"]}
    extras = PROJECT["project"]["optional-dependencies"].values()
    needed = [*PROJECT["project"]["dependencies"], *itertools.chain(*extras)]
    assert {re.split(r"[\[<>=~]", each)[0] for each in needed} <= listed
    of_others = release.vendored()
    in_tree = {str(path.relative_to(ROOT)) for path in (ROOT / "static" / "vendor").rglob("*.js")}
    assert in_tree == {path for path, *_ in of_others}
    assert {name for _, name, *_ in of_others} <= listed
    reasons = (ROOT / "docs" / "explanation" / "dependencies.md").read_text()
    assert [
        name for _, name, _, licence in of_others if f"`{name}`" not in reasons or licence not in reasons
    ] == []


def test_one_version_is_in_the_program_the_project_the_chart_and_the_changelogs_newest_release() -> None:
    chart = (ROOT / "docs" / "deploy" / "helm" / "Chart.yaml").read_text()
    newest = re.search(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    places = {
        "groups/places.py": VERSION,
        "pyproject.toml": PROJECT["project"]["version"],
        "Chart.yaml version": re.search(r"^version: (.*)$", chart, re.MULTILINE)[1],  # type: ignore[index]
        "Chart.yaml appVersion": re.search(r"^appVersion: (.*)$", chart, re.MULTILINE)[1],  # type: ignore[index]
        "CHANGELOG.md": newest[1],
    }
    assert set(places.values()) == {newest[1]}, places
