"""``manage.py fork``: a branch from the command line, and what is refused in one line."""

from __future__ import annotations

import io
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command

from explorer.pages.runs import starting
from groups import storage
from groups.models import Timeline
from simulations.jobs import run_tasks

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sent: list[str] = []
    monkeypatch.setattr(starting.run_tasks.run, "delay", sent.append)
    return sent


@pytest.fixture
def parent() -> Timeline:
    timeline = starting.start_run("released-six-partitions")
    run_tasks.run(timeline.id)
    return storage.get(timeline.id)


def forked(*words: str) -> Any:
    out = io.StringIO()
    call_command("fork", *words, stdout=out)
    return orjson.loads(out.getvalue())


def test_a_fork_without_a_change_has_the_entries_of_its_parent(parent: Timeline) -> None:
    line = forked(parent.id, "--at", "30")
    assert (line["how"], line["parent"], line["at"], line["status"]) == (
        "same run",
        parent.id,
        30,
        "complete",
    )
    assert list(storage.every_entry(storage.get(line["id"]))) == list(storage.every_entry(parent))


def test_faults_and_settings_of_the_line_are_the_branch_s(parent: Timeline) -> None:
    line = forked(
        parent.id,
        "--kill",
        "B@12s",
        "--slow-revoke",
        "A@1.5s+30s",
        "--fail-over",
        "@20s",
        "--set",
        "session_timeout_ms=50000",
    )
    assert line["title"] == (
        "Fork: session timeout 50 s, B is killed after 12 s, slow callback of A for 30 s after 1.5 s, "
        "fail-over of the coordinator after 20 s"
    )
    assert (line["how"], line["status"], line["at"]) == ("taken over", "complete", parent.last)
    scenario = storage.get(line["id"]).scenario
    for text in ('"at": "12000ms", "kill": "B"', '"at": "1500ms", "slow_revoke": "A", "for": "30000ms"'):
        assert text in scenario


WRONG = (
    (("--at", "1000000"), 1, "has entries 1 to"),
    (("--kill", "Nobody@1s"), 2, "unknown member Nobody"),
    (("--set", "sesion_timeout_ms=1"), 2, "did you mean session_timeout_ms?"),
    (("--set", "session_timeout_ms=0"), 2, "from 1 to"),
    (("--title", "x" * 201), 2, "at most 200 characters"),
)


def test_a_fork_that_cannot_be_made_is_one_line(parent: Timeline) -> None:
    for words, code, message in WRONG:
        with pytest.raises(CommandError) as refused:
            forked(parent.id, *words)
        assert refused.value.returncode == code
        assert message in str(refused.value)
        assert "\n" not in str(refused.value)
    assert not Timeline.objects.filter(parent__isnull=False).exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--kill", "B"], "expected MEMBER@TIME, such as B@12s, found 'B'"),
        (["--kill", "B@12"], "a duration with its unit"),
        (["--kill", "@12s"], "must be a member's name"),
        (["--kill", "B@12s=3"], "add_partitions, and it alone"),
        (["--slow-revoke", "B@12s"], "needs for_ms, its length; expected MEMBER@TIME+LENGTH"),
        (["--leave", "B@12s+3s"], "leave has no length"),
        (["--set", "rate"], "expected KEY=VALUE"),
        (["--at", "x"], "expected a whole number"),
    ],
)
def test_a_word_that_is_none_is_refused_with_what_would_be_right(words: list[str], message: str) -> None:
    with pytest.raises(CommandError) as refused:
        forked("released-six-partitions", *words)
    assert message in str(refused.value)


def test_a_timeline_that_is_not_stored_is_refused_with_exit_code_1() -> None:
    with pytest.raises(CommandError) as refused:
        forked("nosuchid12")
    assert refused.value.returncode == 1
