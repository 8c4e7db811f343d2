"""The tree and its import contracts."""

import ast
import io
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from django.core.management import call_command
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

from tests.house import ROOT

TOP_LEVEL = {
    # as the design gives it
    *("manage.py", "pyproject.toml", "explorer", "groups", "simulations", "templates", "static", "tests"),
    # what people expect at a root
    *("README.md", "Makefile", "uv.lock", "LICENSE", "CHANGELOG.md", "compose.yaml", "docs", ".ci"),
    *("CONTRIBUTING.md", "SECURITY.md", ".github"),
    *(".gitignore", ".pre-commit-config.yaml", "package.json", "package-lock.json", "tsconfig.json"),
}
PURE = [
    *("groups/history", "groups/wire", "explorer/figures"),
    *(
        "simulations/protocol/assignors",
        "simulations/protocol/coordinator",
        "simulations/protocol/client/consumer",
        "simulations/world/engine",
    ),
    *("simulations/laboratory", "simulations/invariants", "simulations/proof/conformance"),
]
MAKER_OF_FUNCTIONS = "groups/wire/codecs/fused_readers.py"
"""The one place that may compile text: functions made of schemas, which are constants of the code."""


def test_the_import_contracts_hold() -> None:
    out = io.StringIO()
    with redirect_stdout(out):
        status = lint_imports(config_filename=str(ROOT / "pyproject.toml"))
    assert status == EXIT_STATUS_SUCCESS, out.getvalue()


def test_nothing_lies_at_the_root_but_what_people_expect_there() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    assert {line.split("/")[0] for line in tracked.stdout.splitlines()} <= TOP_LEVEL


@pytest.mark.parametrize("package", PURE)
def test_a_pure_package_neither_opens_files_nor_draws_from_global_randomness(package: str) -> None:
    """Imports are the contracts' affair; this reads the calls: ``open``, ``print``, ``random.<function>``."""
    offences = []
    for path in sorted((ROOT / package).rglob("*.py")):
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
    return "migrations" in path.parts or path.name in {"urls.py", "apps.py"}
