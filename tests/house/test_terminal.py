"""No name reaches a terminal as what the terminal would obey: each command is given names that hold such characters."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import pkgutil
import struct
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command

import explorer.management.commands
import groups.management.commands
import simulations.management.commands
from explorer.sharing.logs import WithoutTokens
from groups.command_line import TerminalCommand
from groups.models import Timeline
from groups.terminal import terminal_line, terminal_name, terminal_text
from tests.clusters.hostile import Answering, hostile_broker, varint
from tests.pipeline.pretend_job import ORDERS_A_TERMINAL as EVIL
from tests.tasks.idle import pretend_the_job

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]

SHOWN = r"\u001b]0;owned\u0007\u001b[2J\u009b31m\u007f\u000d\u202e"

ROOMS = (explorer.management.commands, groups.management.commands, simulations.management.commands)
COMMANDS = sorted(
    (f"{room.__name__}.{module.name}", module.name)
    for room in ROOMS
    for module in pkgutil.iter_modules(room.__path__)
)


class Terminal:
    """Runs a command; all that it wrote, in order of the streams, with the error that ended it."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self.capfd = capfd

    def __call__(self, *words: str) -> str:
        self.capfd.readouterr()
        command = _command(words[0])
        with contextlib.suppress(SystemExit):
            command.run_from_argv(["manage.py", *words])
        out, error = self.capfd.readouterr()
        obeyed = {
            letter
            for letter in out + error
            if letter in EVIL and not letter.isalnum() and letter not in "[];"
        }
        assert not obeyed, (obeyed, out, error)
        return str(out + error)


def _command(name: str) -> Any:
    module = next(module for module, each in COMMANDS if each == name)
    return import_module(module).Command()


@pytest.fixture
def terminal(capfd: pytest.CaptureFixture[str], settings: Any, tmp_path: Path) -> Terminal:
    settings.VAR = tmp_path / "var"
    settings.STORE_URL = str(tmp_path / "store")
    return Terminal(capfd)


@pytest.mark.parametrize(("module", "name"), COMMANDS)
def test_every_command_writes_to_a_terminal_through_the_one_function(module: str, name: str) -> None:
    command = import_module(module).Command
    assert issubclass(command, TerminalCommand)
    for given in ({}, {"stdout": io.StringIO(), "stderr": io.StringIO()}):
        made = command(**given)
        made.stdout._out = made.stderr._out = out = io.StringIO()
        made.stdout.write(f"a {EVIL}")
        made.stderr.write(f"b {EVIL}\nc")
        assert out.getvalue() == f"a {SHOWN}\nb {SHOWN}\\u000ac\n"


def test_a_stream_that_a_caller_gives_is_written_to_in_the_same_way() -> None:
    error = io.StringIO()
    with pytest.raises(CommandError):
        call_command("timeline", "show", f"no{EVIL}", stderr=error, stdout=io.StringIO())
    out = io.StringIO()
    call_command("timeline", "list", stdout=out, stderr=error)
    assert error.getvalue().startswith("Nothing is stored yet")


def imported(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> str:
    pretend_the_job(monkeypatch)
    return terminal("import_log", "escaping")


@pytest.mark.long
def test_imports_and_stored_timelines_with_names_that_a_terminal_would_obey(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert "orders" in imported(terminal, monkeypatch)
    again = imported(terminal, monkeypatch)
    assert f"(orders{SHOWN}) was imported before" in again
    timeline = Timeline.objects.latest("created")
    assert timeline.group == f"orders{EVIL}"
    assert "orders" in terminal("timeline", "list")
    for form in ("entries", "frames", "records", "findings", "verdict", "metrics"):
        said = terminal("timeline", "show", timeline.id, "--format", form)
        assert [json.loads(line) for line in said.splitlines()], form
    out = str(tmp_path / "page.html")
    pseudonyms = terminal("timeline", "export", timeline.id, "--hide-names", "--out", out)
    assert f"orders{SHOWN} is " in pseudonyms
    title = json.loads(terminal("timeline", "rename", timeline.id, "a\x9b31m"))["title"]
    assert title == "a\x9b31m"
    for words in (
        ("import_log", "log", "--from", EVIL),
        ("import_log", "log", "--topics", f"/no/{EVIL}"),
        ("timeline", "show", EVIL),
        ("timeline", "add", f"/no/{EVIL}"),
        ("timeline", "show", "x", "--at", EVIL),
    ):
        assert "owned" in terminal(*words), words
    assert "a\\u009b31m" in terminal("timeline", "remove", timeline.id)


def compact(text: str) -> bytes:
    data = text.encode()
    return varint(len(data) + 1) + data


def evil_cluster() -> Mapping[int, Answering]:
    """A cluster with a group, a member and a host of such names; versions are those that are asked for."""

    def listed(version: int) -> bytes:
        row = (
            compact(f"orders{EVIL}")
            + compact("consumer")
            + compact(f"Stable{EVIL}")
            + compact("classic")
            + b"\0"
        )
        return b"\0\0\0\0\0\0" + varint(2) + row + b"\0"

    def described(version: int) -> bytes:
        member = compact(f"m{EVIL}") + b"\0" + compact(f"c{EVIL}") + compact(f"h{EVIL}") + b"\1\1\0"
        group = b"\0\0\0" + compact(f"orders{EVIL}") + compact(f"Stable{EVIL}") + compact("consumer")
        group += compact(f"range{EVIL}") + varint(2) + member + struct.pack(">i", 0) + b"\0"
        return b"\0\0\0\0" + varint(2) + group + b"\0"

    def offsets(version: int) -> bytes:
        partition = struct.pack(">iqi", 0, 7, 0) + b"\1" + b"\0\0" + b"\0"
        topic = compact(f"t{EVIL}") + varint(2) + partition + b"\0"
        group = compact(f"orders{EVIL}") + varint(2) + topic + b"\0\0" + b"\0"
        return b"\0\0\0\0" + varint(2) + group + b"\0"

    return {16: listed, 15: described, 9: offsets}


@pytest.fixture
def evil_address() -> Iterator[str]:
    with hostile_broker(evil_cluster(), advertises=True) as address:
        yield address


@pytest.mark.long
def test_groups_of_a_cluster_with_names_that_a_terminal_would_obey(
    terminal: Terminal, evil_address: str
) -> None:
    where = ("--bootstrap-server", evil_address)
    assert terminal("groups", "list", *where) == f"orders{SHOWN}\n"
    assert f"orders{SHOWN}" in terminal("groups", "list", "--state", "--type", *where)
    group = ("--group", f"orders{EVIL}")
    for words in ((), ("--members", "--verbose"), ("--state", "--verbose"), ("--json",)):
        assert "orders" in terminal("groups", "describe", *group, *words, *where), words
    assert "owned" in terminal("groups", "validate-regex", f"({EVIL}")
    said = terminal("watch", "--poll", "--seconds", "3", "--every", "1", *where)
    assert "orders" in said


KEY = b"\0\2" + struct.pack(">h", len(f"g{EVIL}".encode())) + f"g{EVIL}".encode()
"""The key of a classic group's metadata."""


@pytest.mark.parametrize(
    "made",
    [
        lambda file: ("decode", "record", "--hex", "0007" + compact(f"m{EVIL}").hex(), "--key", KEY.hex()),
        lambda file: ("decode", "record", f"/no/{EVIL}"),
        lambda file: ("simulate", file(f"name: {json.dumps(EVIL)}\nmembers: {{}}\n")),
        lambda file: ("simulate", file(orjson.dumps({"protocol": "consumer", EVIL: 1}).decode())),
        lambda file: ("simulate", f"no-{EVIL}"),
        lambda file: ("assign", file(orjson.dumps({"protocol": EVIL}).decode())),
        lambda file: (
            "assign",
            file(
                orjson.dumps(
                    {
                        "protocol": "consumer",
                        "assignor": "uniform",
                        "topics": {f"t{EVIL}": {"partitions": 1}},
                        "members": {f"m{EVIL}": {"subscribed_topics": [f"t{EVIL}"]}},
                    }
                ).decode()
            ),
        ),
        lambda file: ("rehearse", file(orjson.dumps({"topics": {EVIL: 1}, "members": 2}).decode())),
        lambda file: ("lessons", "check", file(f"title: {json.dumps(EVIL)}\n")),
        lambda file: ("lessons", "show", EVIL),
        lambda file: ("conform", "--requests", file(EVIL), file(EVIL)),
        lambda file: ("conform", "--requests", f"/no/{EVIL}", f"/no/{EVIL}"),
        lambda file: ("fuzz", "--seeds", "1", "--presets", EVIL),
        lambda file: ("explore", EVIL),
        lambda file: ("sweep", "--assignors", EVIL),
        lambda file: ("compare_semantics", EVIL),
        lambda file: ("archive_log", "--into", file(""), "--bootstrap-server", EVIL),
        lambda file: ("case_studies", EVIL),
        lambda file: ("serve", "--port", EVIL),
    ],
)
def test_what_a_file_or_a_word_says_is_shown_and_not_obeyed(
    made: Callable[[Callable[[str], str]], tuple[str, ...]], terminal: Terminal, tmp_path: Path
) -> None:
    def file(text: str) -> str:
        path = tmp_path / f"f{EVIL.replace('/', '')}"
        path.write_text(text)
        return str(path)

    assert "owned" in terminal(*made(file))


def test_a_log_line_shows_such_a_name_and_keeps_its_lines(caplog: pytest.LogCaptureFixture) -> None:
    record = logging.makeLogRecord({"msg": "child said:\n%s", "args": (EVIL,)})
    assert WithoutTokens("{message}", style="{").format(record) == f"child said:\n{SHOWN}"


def test_json_stays_the_same_json_and_plain_text_the_same_text() -> None:
    value = {"names": [EVIL, "zwj \N{ZERO WIDTH JOINER}", "nbsp \N{NO-BREAK SPACE}", "分", "tab\t"], EVIL: 1}
    line = orjson.dumps(value)
    assert orjson.loads(terminal_line(line)) == value
    assert terminal_line(line).decode() == terminal_text(line.decode())
    assert terminal_text("a\tb\nç 分 🙂") == "a\tb\nç 分 🙂"
    assert terminal_name("a\nb") == r"a\u000ab"
    assert terminal_text("half \ud800") == r"half \ud800"
