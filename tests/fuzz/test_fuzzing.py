"""Any bytes at all: what fuzzing found and chose is replayed, and the oracle is shown what it must not let pass."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groups.wire.codecs.schema import Array, FieldType, Form, Primitive, Struct
from groups.wire.errors import BatchError, MalformedError
from tests.fuzz import corpus, oracle
from tests.fuzz.messages import messages
from tests.fuzz.oracle import Finding, Target, attempt, attempt_counting, time_bound
from tests.fuzz.targets import every_target

TARGETS = every_target()
FAMILIES = sorted({target.family for target in TARGETS.values()})

COUNTED_EVERY = 5
"""Counting every allocation takes ten times as long."""


@pytest.mark.parametrize("family", FAMILIES)
def test_every_committed_input_is_read_or_refused_within_the_bounds(family: str):
    inputs = corpus.for_each_target(name for name, target in TARGETS.items() if target.family == family)
    findings = []
    with time_bound() as restart:
        for name, rows in inputs.items():
            for index, data in enumerate([*rows, b""]):
                restart()
                try:
                    (attempt if index % COUNTED_EVERY else attempt_counting)(TARGETS[name], data)
                except Finding as finding:
                    findings.append(f"{name} {data.hex()}: {finding}")
    assert findings == []


def test_every_committed_input_has_a_target():
    assert {name for name, _ in corpus.read()} <= TARGETS.keys()


def test_mutations_begin_with_bytes_that_can_be_read():
    unread = []
    for name, target in TARGETS.items():
        seeds = target.seeds()
        if not seeds or not attempt(target, seeds[0]):
            unread.append(name)
    assert unread == []


def least_bytes(type_: FieldType, form: Form) -> int:
    """How few bytes a value may have."""
    match type_:
        case Struct():
            fields = type_.in_version(form.version)
            widths = (1 if is_null(field, form) else least_bytes(field.type, form) for field in fields)
            return sum(widths) + form.flexible
        case Array() | Primitive(value=(_, None)):
            return 1
        case Primitive(value=(_, width)):
            return width
    raise AssertionError(type_)


def is_null(field: Any, form: Form) -> bool:
    return field.is_nullable_in(form.version) and isinstance(field.type, Struct)


def elements(type_: FieldType, form: Form) -> list[FieldType]:
    match type_:
        case Struct():
            return [
                each
                for field in type_.fields
                if field.is_in(form.version)
                for each in elements(field.type, form)
            ]
        case Array():
            return [type_.of, *elements(type_.of, form)]
        case _:
            return []


def test_every_element_of_a_list_takes_a_byte_so_that_bytes_bound_its_count():
    for message in messages().values():
        for version in message.versions:
            form = message.form(version)
            assert all(least_bytes(element, form) > 0 for element in elements(message.body, form)), message


def forever(_: bytes) -> None:
    while True:
        pass


def raises(error: BaseException) -> Callable[[bytes], None]:
    def check(_: bytes) -> None:
        raise error

    return check


class Panic(BaseException):
    """What a compiled library may raise."""


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (raises(IndexError("list index out of range")), "IndexError instead of an error of the decoders"),
        (raises(Panic("called `unwrap` on a `None` value")), "Panic instead of an error"),
        (raises(MalformedError("no place")), "an error without an offset"),
        (raises(MalformedError("beyond", offset=5)), "an offset outside of 4 bytes: 'byte 5: beyond'"),
        (raises(MalformedError("two\nlines", offset=0)), "an error that is not one line"),
        (lambda _: [bytes(1000) for _ in range(1000)], "allocates 1.* bytes for 4 bytes"),
        (forever, "takes more than 0.05 s for 4 bytes"),
    ],
)
def test_the_oracle_finds(check: Any, sentence: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(oracle, "MOST_SECONDS", 0.05)
    with time_bound() as restart:
        restart()
        with pytest.raises(Finding, match=sentence):
            attempt_counting(Target("broken", "broken", check, list), b"abcd")


def test_the_oracle_lets_pass_what_is_read_and_what_is_refused_clearly():
    assert attempt(Target("reads", "", lambda data: None, list), b"abcd")
    assert not attempt(Target("refuses", "", raises(MalformedError("no", offset=4)), list), b"abcd")
    assert not attempt(Target("batch", "", raises(BatchError("records, decompressed")), list), b"abcd")


def test_a_run_tells_what_it_tried_and_a_finding_can_be_replayed(tmp_path: Path):
    def fuzz(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "tests.fuzz", "--folder", str(tmp_path), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout

    code, said = fuzz("--blind", "--inputs", "1000", "--processes", "1", "--only", "control", "--seed", "7")
    assert (code, said.splitlines()[0].split(" processes")[0]) == (0, "1,000 inputs, blind, 1")
    corpus.write(tmp_path / "one.txt", [("control", b"\0\0\4\0\0\0\1\0\0\0\0\0\7")])
    assert fuzz("--replay", str(tmp_path / "one.txt")) == (0, "control, 13 bytes: read\n")
