"""The tree and its import contracts."""

import ast
import io
import os
import re
import shutil
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from django.core.management import call_command
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

from tests.house import ROOT
from tests.serving import environment_for

TOP_LEVEL = {
    # as the design gives it
    *("manage.py", "pyproject.toml", "explorer", "groups", "simulations", "templates", "static", "tests"),
    # what people expect at a root
    *("README.md", "Makefile", "uv.lock", "LICENSE", "CHANGELOG.md", "docs", ".ci"),
    *("Dockerfile", "compose.yaml"),
    *("CONTRIBUTING.md", "SECURITY.md", ".github"),
    *(".gitignore", ".pre-commit-config.yaml", "package.json", "package-lock.json", "tsconfig.json"),
}
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
PURE_CONTRACT = next(contract for contract in CONTRACTS if contract["type"] == "pure")
PURE = sorted(PURE_CONTRACT["pure_rooms"])
MAKER_OF_FUNCTIONS = "groups/wire/codecs/fused_readers.py"
"""The one place that may compile text: functions made of schemas, which are constants of the code."""


def test_the_import_contracts_hold() -> None:
    out = io.StringIO()
    with redirect_stdout(out):
        status = lint_imports(config_filename=str(ROOT / "pyproject.toml"))
    assert status == EXIT_STATUS_SUCCESS, out.getvalue()


PLANTED = {
    "groups.history.words": ["groups.pipeline.spark.java", "time", "groups.history.findings"],
    "groups.wire.errors": ["groups.history.words", "django.conf"],
    "groups.storage.names": ["simulations.protocol.messages", "groups.imports.lifecycle"],
    "groups.packs.blocks": ["numpy", "groups.storage.names"],
    "groups.pipeline.reading.rows": ["groups.pipeline.job", "django.db"],
    "simulations.invariants.rules": ["simulations.protocol.messages", "threading"],
    "simulations.protocol.messages.groups": ["simulations.protocol.client.consumer"],
    "simulations.protocol.client.classic.errors": ["simulations.protocol.coordinator.errors"],
    "simulations.proof.fuzzing.generator": ["os", "simulations.world.studies"],
    "simulations.world.scenario.values": ["simulations.world.engine.queue", "asyncio"],
    "simulations.sweeps.cases": ["pyspark.sql", "simulations.jobs.sweep_runs"],
    "simulations.spark.sweeps": ["simulations.models"],
    "explorer.web.times": ["explorer.pages.board.views"],
    "explorer.figures.epochs": ["explorer.web.times", "socket"],
}
"""What the architecture forbids, a few of each kind: module, what it would import."""


def test_an_import_that_the_architecture_forbids_is_found_whatever_its_kind(tmp_path: Path) -> None:
    for room in ("explorer", "groups", "simulations"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    for module, imports in PLANTED.items():
        path = tmp_path.joinpath(*module.split(".")).with_suffix(".py")
        lines = "".join(f"    import {imported}\n" for imported in imports)
        path.write_text(f"{path.read_text()}\n\ndef _planted() -> None:\n{lines}")
    config = tmp_path / "pyproject.toml"
    config.write_text((ROOT / "pyproject.toml").read_text())
    told = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--config", config, "--no-cache"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    found = re.sub(r"\s+", " ", told)
    missed = [
        f"{module} -> {imported}"
        for module, imports in PLANTED.items()
        for imported in imports
        if not re.search(
            rf"{re.escape(module)} (imports|->|is not allowed to import) {re.escape(imported.split('.')[0])}",
            found,
        )
    ]
    assert missed == [], told


def test_nothing_lies_at_the_root_but_what_people_expect_there() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    assert {line.split("/")[0] for line in tracked.stdout.splitlines()} <= TOP_LEVEL


@pytest.mark.parametrize("room", PURE)
@pytest.mark.long
def test_a_pure_room_neither_opens_files_nor_draws_from_global_randomness(room: str) -> None:
    """Imports are the contracts' affair; this reads the calls: ``open``, ``print``, ``random.<function>``."""
    offences = []
    for path in sorted(ROOT.joinpath(*room.split(".")).rglob("*.py")):
        tree = ast.parse(path.read_text())
        imported = {
            name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _is_impure(node.func, imported):
                place, call = path.relative_to(ROOT), ast.unparse(node.func)
                if (str(place), call) != (MAKER_OF_FUNCTIONS, "exec"):
                    offences.append(f"{place}:{node.lineno}: {call}")
    assert offences == []


def _is_impure(called: ast.expr, imported: set[str]) -> bool:
    if isinstance(called, ast.Name):
        return called.id in {"open", "print", "input", "exec", "eval"}
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        if called.value.id == "random" and "random" in imported:
            return called.attr != "Random"
        return called.value.id in {"datetime", "date"} and called.attr in {"now", "today", "utcnow"}
    return False


@pytest.mark.django_db
def test_migrations_are_complete_and_stand_in_one_line() -> None:
    out = io.StringIO()
    call_command("makemigrations", check=True, dry_run=True, stdout=out)
    for app in ("groups", "simulations"):
        files = sorted(p.stem for p in (ROOT / app / "migrations").glob("[0-9]*.py"))
        numbers = [name.split("_")[0] for name in files]
        assert len(set(numbers)) == len(numbers), f"two migrations of {app} have one number: {files}"


def test_the_simulation_child_starts_without_django() -> None:
    code = "import sys, simulations.jobs.run; sys.exit('django' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_an_import_of_files_loads_neither_spark_nor_cryptography(tmp_path: Path) -> None:
    """In the process of the command: they cost it a third of its memory."""
    code = (
        "import sys, django; django.setup(); from django.core.management import call_command;"
        "call_command('import_log', 'groups/samples/orders-enrich/segments');"
        "sys.exit(bool({'pyspark', 'cryptography'} & set(sys.modules)))"
    )
    environment = environment_for(tmp_path, DJANGO_SETTINGS_MODULE="explorer.settings")
    assert (
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=False).returncode == 0
    )


def test_every_package_says_in_its_docstring_what_it_is_for() -> None:
    rooms = [ROOT / room for room in ("explorer", "groups", "simulations")]
    silent = [
        str(path.relative_to(ROOT))
        for room in rooms
        for path in sorted(room.rglob("*.py"))
        if path.stat().st_size
        and not _is_exempt(path)
        and ast.get_docstring(ast.parse(path.read_text())) is None
    ]
    assert silent == []


def _is_exempt(path: Path) -> bool:
    """Files whose name says it all, by Django's convention."""
    return "migrations" in path.parts or path.name == "apps.py"


def test_a_table_of_a_rooms_modules_names_those_that_are_there() -> None:
    """A row begins with a module, or has the modules in which a rule stands behind what it is about."""
    name = r"``([a-z_]+(?:\.[a-z_]+)*)``"
    missing = []
    for room in ("explorer", "groups", "simulations"):
        for path in sorted((ROOT / room).rglob("__init__.py")):
            told = ast.get_docstring(ast.parse(path.read_text())) or ""
            for row in re.findall(r"^\S.* {2,}\S.*$", told, re.MULTILINE):
                named = re.match(name, row)
                for module in [named[1]] if named else re.findall(name, row):
                    place = path.parent.joinpath(*module.split("."))
                    if not place.is_dir() and not place.with_suffix(".py").exists():
                        missing.append(f"{path.relative_to(ROOT)}: {module}")
    assert missing == []
