"""``manage.py import_log`` as scripts call it: JSON out, exit codes, one line where nothing can be read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks.generated.mixes import MIXES
from tests.conftest import manage as command
from tests.pipeline.segments import BAR, Group, Segment, sample_group

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parent.parent.parent
LIMIT_S = 300

Manage = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def manage(tmp_path_factory: pytest.TempPathFactory, spark_can_start: None) -> Manage:
    """Runs a command on a database of the test's own."""
    database = tmp_path_factory.mktemp("imported") / "test.sqlite3"
    environment = {**os.environ, "DATABASE_URL": f"sqlite:///{database}"}

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *map(str, words)],
            env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip

    assert run("migrate", "--verbosity", "0").returncode == 0
    return run


@pytest.mark.quick
def test_the_sample_log_imports_into_timelines_that_can_be_shown(
    imported_sample: subprocess.CompletedProcess[str], migrated_environment: dict[str, str]
) -> None:
    done = imported_sample

    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert [sorted(told) for told in report["timelines"]] == [
        ["entries", "first_ms", "gaps", "group", "id", "last_ms", "protocol"]
    ] * 2
    assert {told["group"]: told["protocol"] for told in report["timelines"]} == {
        "orders-enrich": "consumer",
        "payments-audit": "classic",
    }
    assert report["records"]["skipped"] == []
    assert report["records"]["read"] == report["records"]["decoded"] > 0
    assert "Folding" in done.stderr
    words = ("timeline", "show", report["timelines"][0]["id"], "--format", "entries")
    first = command(*words, environment=migrated_environment).stdout.splitlines()
    assert len(first) == report["timelines"][0]["entries"]


def test_bad_input_beside_good_is_told_and_all_that_can_be_read_is_read(
    manage: Manage, tmp_path: Path
) -> None:
    path = sample_group().write(tmp_path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data[:-9])
    (path.parent / "note.txt").write_text("no segment at all")
    nameless = Segment().add(Group("others", {"bar": BAR}).join("A", {BAR: [0]}, 4711))
    nameless.write(tmp_path, partition=3)
    names = tmp_path / "names.json"
    names.write_text(json.dumps({BAR: "bar"}))

    done = manage(
        "import_log",
        tmp_path / "__consumer_offsets-17",
        tmp_path / "__consumer_offsets-3",
        tmp_path / "gone",
        "--topics",
        names,
    )

    report = json.loads(done.stdout)
    skipped = {row["file"].rsplit("/", 1)[-1]: row for row in report["records"]["skipped"]}
    reasons = [row["reason"] for row in report["records"]["skipped"]]
    assert done.returncode == 0
    assert sorted(told["group"] for told in report["timelines"]) == ["orders", "others"]
    assert skipped["note.txt"]["reason"].startswith("no log segment")
    assert skipped["gone"]["reason"] == "no such file or folder"
    assert any("CRC" in reason for reason in reasons)
    assert any("still being written" in reason for reason in reasons)
    assert all(sorted(row) == ["file", "offset", "reason"] for row in report["records"]["skipped"])
    [orders] = [told for told in report["timelines"] if told["group"] == "orders"]
    assert len(orders["gaps"]) == 1


def test_a_folder_and_its_archives_are_the_same_timelines(manage: Manage, tmp_path: Path) -> None:
    folder = sample_group().write(tmp_path / "given", partition=17).parent
    packed = [shutil.make_archive(str(tmp_path / "packed"), form, folder.parent) for form in ("gztar", "zip")]

    done = [manage("import_log", path) for path in (folder, *packed)]

    [first, *others] = [json.loads(each.stdout) for each in done]
    assert [each.returncode for each in done] == [0, 0, 0]
    assert [each["timelines"] for each in others] == [first["timelines"]] * 2
    assert all("was imported before: it has the same entries" in each.stderr for each in done[1:])
    assert all(each["records"]["skipped"] == [] for each in others)


def test_generated_logs_import_whole_without_a_gap_or_a_contradiction(manage: Manage, tmp_path: Path) -> None:
    sizes = {"typical": 2_000, "churn": 2_000, "many-groups": 5, "large-group": 40}
    logs = {
        mix: MIXES[mix](tmp_path, size, partition=partition)
        for partition, (mix, size) in enumerate(sizes.items())
    }

    done = manage("import_log", *(tmp_path / f"__consumer_offsets-{partition}" for partition in range(4)))

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["records"] == {
        "read": sum(log.records for log in logs.values()),
        "decoded": sum(log.records for log in logs.values()),
        "skipped": [],
    }
    ids = {told["group"]: told["id"] for told in report["timelines"] if not told["gaps"]}
    assert sorted(ids) == sorted(group for log in logs.values() for group in log.groups)
    for log in logs.values():
        shown = manage("timeline", "show", ids[log.groups[0]], "--format", "findings").stdout
        kinds = {json.loads(line)["kind"] for line in shown.splitlines()}
        assert kinds & {"joined", "began"}, shown
        assert not kinds & {"anomaly", "gap", "midway"}, shown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["gone"], "gone: no such file or folder"),
        (["empty"], "the folder holds no file"),
        (["note.txt"], "no log segment"),
        (["note.txt", "--topics", "gone.json"], "--topics"),
        (["note.txt", "--topics", "note.txt"], "is no JSON"),
    ],
)
def test_where_nothing_was_read_the_exit_code_is_two_and_one_line_says_why(
    manage: Manage, tmp_path: Path, words: list[str], says: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "note.txt").write_text("no segment at all")

    done = manage("import_log", *(word if word.startswith("-") else tmp_path / word for word in words))

    assert done.returncode == 2
    assert says in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
