"""Settings: none is needed, each is documented, and a wrong one gets one line."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.server import environment
from groups.places import ROOT

pytestmark = pytest.mark.once


def manage(folder: Path, *words: str, umask: int = -1, **given: str) -> subprocess.CompletedProcess[str]:
    names = {"DATABASE_URL": "", "REDIS_URL": "", "REBALANCE_VAR": str(folder)}
    return subprocess.run(
        [sys.executable, ROOT / "manage.py", *words],
        env={**os.environ, **names, **given},
        # From elsewhere: nothing may depend on the folder that one stands in.
        cwd=folder if folder.is_dir() else ROOT,
        umask=umask,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_reference_lists_every_setting() -> None:
    read = {
        each.value
        for node in ast.walk(ast.parse((ROOT / "explorer" / "settings.py").read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "environment"
        # The settings of a mail server are read together.
        for each in (node.args if node.func.attr == "mail_server" else node.args[:1])
        if isinstance(each, ast.Constant)
    }
    read |= set(re.findall(r'"(OIDC_[A-Z_]+)"', (ROOT / "explorer/server/openid_environment.py").read_text()))
    # Spark's jobs know nothing of Django, and read theirs by themselves.
    jobs = "".join(path.read_text() for path in (ROOT / "groups" / "pipeline").rglob("*.py"))
    read |= set(re.findall(r'os\.environ\.get\("(REBALANCE_[A-Z_]+)"\)', jobs))
    page = (ROOT / "docs" / "reference" / "settings.md").read_text()
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE)) == read


def test_a_fresh_clone_needs_no_setting(tmp_path: Path) -> None:
    done = manage(tmp_path, "timeline", "list")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("Nothing is stored yet: ")
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "secret-key").stat().st_mode & 0o777 == 0o600
    secret = (tmp_path / "secret-key").read_text()
    assert len(secret) > 40
    assert manage(tmp_path, "check").returncode == 0
    assert (tmp_path / "secret-key").read_text() == secret


def rights_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_what_is_kept_is_its_owners_alone(tmp_path: Path) -> None:
    var = tmp_path / "var"
    assert manage(var, "timeline", "list", umask=0o022).returncode == 0
    assert rights_of(var) == 0o700
    assert [path.name for path in var.iterdir() if path.is_file() and rights_of(path) != 0o600] == []
    assert (var / "token").read_text() != (var / "secret-key").read_text()
    assert len((var / "token").read_text()) > 40


def test_a_folder_of_an_earlier_version_is_closed_with_what_is_in_it(tmp_path: Path) -> None:
    var = tmp_path / "var"
    assert manage(var, "timeline", "list").returncode == 0
    (var / "imports").mkdir()
    (var / "notes").write_text("not ours")
    open_to_all = [var, *var.iterdir()]
    for path in open_to_all:
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert manage(var, "timeline", "list").returncode == 0
    assert [path.name for path in open_to_all if rights_of(path) & 0o077] == ["notes"]


@pytest.mark.parametrize("rights", [0o755, 0o1777])
@pytest.mark.long
def test_a_folder_that_holds_nothing_of_ours_or_is_everybodys_stays_as_it_is(
    tmp_path: Path, rights: int
) -> None:
    var = tmp_path / "var"
    var.mkdir()
    (var / "notes").touch()
    var.chmod(rights)
    for _ in range(2 if rights & 0o1000 else 1):
        assert manage(var, "check").returncode == 0
    assert var.stat().st_mode & 0o7777 == rights


def test_an_empty_folder_is_taken_over_and_closed(tmp_path: Path) -> None:
    var = tmp_path / "var"
    var.mkdir(mode=0o755)
    assert manage(var, "check").returncode == 0
    assert rights_of(var) == 0o700


def test_a_database_can_be_named_by_its_absolute_path(tmp_path: Path) -> None:
    file = tmp_path / "my own.sqlite3"
    done = manage(tmp_path, "timeline", "list", DATABASE_URL=f"sqlite:///{file}".replace(" ", "%20"))
    assert done.returncode == 0
    assert file.is_file()
    assert not (tmp_path / "rebalance-explorer.sqlite3").exists()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("DATABASE_URL", "mysql://db/x", "DATABASE_URL: 'mysql' is no database that is known here."),
        ("DATABASE_URL", "sqlite://var/x.sqlite3", "four before an absolute one"),
        ("DATABASE_URL", "sqlite:///", "names no file"),
        ("DATABASE_URL", "postgresql://me:hidden@db:port/x", "is no number"),
        ("DATABASE_URL", "postgresql://me:hidden@db", "names no database"),
        ("DATABASE_URL", "postgresql://me@127.0.0.1:1/x", "The database cannot be used"),
        ("REDIS_URL", "http://redis", "is no Redis address: use redis://host:6379/0"),
        ("DEBUG", "perhaps", "DEBUG='perhaps' is neither yes nor no: use 1 or 0."),
        (
            "ACCESS_TOKEN",
            "short",
            "ACCESS_TOKEN has 5 letters, which can be guessed: use 20 or more, or none.",
        ),
        ("BEHIND_TLS", "perhaps", "BEHIND_TLS='perhaps' is neither yes nor no: use 1 or 0."),
        ("WORKER_THREADS", "0", "must be a whole number from 1 to 64"),
        ("WORKER_THREADS", "many", "must be a whole number from 1 to 64"),
        ("LOG_LEVEL", "loud", "must be one of DEBUG, INFO, WARNING, ERROR"),
        ("REBALANCE_VAR", "/proc/nowhere", "REBALANCE_VAR: the folder /proc/nowhere cannot be made"),
    ],
)
@pytest.mark.long
def test_a_wrong_setting_is_told_in_one_line(tmp_path: Path, name: str, value: str, message: str) -> None:
    done = manage(tmp_path, "timeline", "list", **{name: value})
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "hidden" not in done.stderr


@pytest.mark.parametrize("words", [("timeline", "list"), ("import_log", "."), ("migrate",)])
@pytest.mark.long
def test_a_database_that_is_not_there_is_told_in_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = manage(tmp_path, *words, DATABASE_URL=f"sqlite:///{tmp_path}/nowhere/x.sqlite3")
    assert done.returncode == 2
    assert "The database cannot be used: unable to open database file. Look at DATABASE_URL." in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.long
def test_a_server_that_is_started_otherwise_gets_its_case_studies_by_a_command(tmp_path: Path) -> None:
    first, second = manage(tmp_path, "case_studies"), manage(tmp_path, "case_studies")
    assert (first.returncode, first.stdout) == (0, "")
    assert first.stderr.startswith("Recorded ")
    assert "kip848-basic" in first.stderr
    assert (second.returncode, second.stderr) == (0, "All case studies are there.\n")
    shown = manage(tmp_path, "timeline", "show", "kip848-basic", "--format", "verdict")
    assert (shown.returncode, shown.stdout.count("\n")) == (0, 1)


def test_a_redis_that_is_not_there_is_told_before_anything_is_served(tmp_path: Path) -> None:
    done = manage(tmp_path, "serve", "--port", "0", "--skip-checks", REDIS_URL="redis://127.0.0.1:1/0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Redis cannot be reached: Error 111 connecting to 127.0.0.1:1. Connection refused." in done.stderr
    assert done.stderr.endswith(" Look at REDIS_URL.\n")
    assert done.stderr.count("\n") == 1


def test_a_file_that_is_no_database_is_told_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "noise.sqlite3"
    file.write_bytes(bytes(range(256)) * 20)
    done = manage(tmp_path, "timeline", "list", DATABASE_URL=f"sqlite:///{file}")
    assert done.returncode == 2
    assert done.stderr.endswith(
        "The database cannot be used: file is not a database. Look at DATABASE_URL.\n"
    )
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("timeline",), "manage.py timeline: the following arguments are required: list|show"),
        (("timeline", "show"), "manage.py timeline show: the following arguments are required: id"),
        (("timeline", "show", "x", "--at", "y"), "argument --at: expected a whole number, found 'y'"),
        (("timeline", "show", "x", "--format", "y"), "invalid choice: 'y' (choose from"),
        (("timeline", "list", "more"), "unrecognized arguments: more"),
        (("import_log",), "manage.py import_log: one of the arguments PATH --cluster is required"),
        (("import_log", "--cluster", "x", "y"), "argument PATH: not allowed with argument --cluster"),
        (("simulate",), "manage.py simulate: the following arguments are required: SCENARIO"),
        (("serve", "--port", "http"), "argument --port: expected a whole number, found 'http'"),
    ],
)
@pytest.mark.long
def test_wrong_words_on_the_line_get_one_line_and_exit_code_two(
    tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    done = manage(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "--help` tells what it takes" in done.stderr
    assert done.stderr.count("\n") == 1


def test_parts_that_do_not_fit_together_are_told(tmp_path: Path) -> None:
    done = manage(
        tmp_path, "check", REDIS_URL="redis://127.0.0.1:1/0", ALLOWED_HOSTS="localhost,rebalance.internal"
    )
    assert "explorer.W001" in done.stderr
    assert "explorer.W003" in done.stderr
    assert "rebalance.internal" in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "rebalance.internal"])
@pytest.mark.long
def test_a_server_beyond_loopback_is_refused(tmp_path: Path, host: str) -> None:
    done = manage(tmp_path, "serve", "--host", host)
    assert done.returncode == 2
    assert "This server speaks no TLS" in done.stderr


def test_the_models_and_the_migrations_agree(tmp_path: Path) -> None:
    assert manage(tmp_path, "makemigrations", "--check", "--dry-run").returncode == 0


def test_postgresql_is_reached_as_its_address_says(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "postgresql://me:p%40ss@db.internal:5433/explorer?sslmode=require"
    monkeypatch.setenv("DATABASE_URL", address)
    found = environment.database("DATABASE_URL", Path("x"))
    assert (found["HOST"], found["PORT"], found["USER"], found["PASSWORD"], found["NAME"]) == (
        "db.internal",
        "5433",
        "me",
        "p@ss",
        "explorer",
    )
    assert found["OPTIONS"] == {"sslmode": "require"}
    monkeypatch.setenv("DATABASE_URL", "postgresql:///explorer?host=/run/postgresql")
    assert environment.database("DATABASE_URL", Path("x"))["HOST"] == "/run/postgresql"
