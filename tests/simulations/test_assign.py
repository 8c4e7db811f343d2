"""``manage.py assign`` as other programs use it."""

from __future__ import annotations

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from simulations.protocol.assignors.spec_document import SpecError, answer_to

ROOT = Path(__file__).resolve().parents[2]
MEMBER = {"subscribed_topics": ["foo"], "owned": {"foo": [0, 1, 2]}}
SPEC = {
    "protocol": "consumer",
    "assignor": "uniform",
    "topics": {"foo": {"partitions": 4}},
    "members": {"A": MEMBER, "B": {"subscribed_topics": ["foo"]}},
}


def program(asked: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "assign", *arguments],
        cwd=ROOT,
        capture_output=True,
        check=False,
        input=asked,
        text=True,
    )


def assign(file: Path, *arguments: str) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("assign", str(file), *arguments, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_answer_has_every_member_and_the_numbers_of_the_change() -> None:
    assert answer_to(SPEC) == {
        "assignment": {"A": {"foo": [0, 1]}, "B": {"foo": [2, 3]}},
        "moved": 1,
        "revoked": 1,
        "min": 2,
        "max": 2,
        "interrupted": 1,
        "paused": 1,
        "rebalances": 1,
        "local": None,
        "placed": 4,
        "valid": True,
        "problems": [],
        "faults": [],
    }


def test_a_file_may_hold_one_document_over_many_lines_or_one_on_each_line(tmp_path: Path) -> None:
    file = tmp_path / "specs.json"
    file.write_text(json.dumps(SPEC, indent=2))
    assert assign(file) == [answer_to(SPEC)]
    file.write_text(f"{json.dumps(SPEC)}\n\n{json.dumps(SPEC)}\n")
    assert assign(file) == [answer_to(SPEC)] * 2


def test_a_document_that_is_no_spec_ends_in_one_line_that_names_the_line_and_the_field(
    tmp_path: Path,
) -> None:
    file = tmp_path / "specs.jsonl"
    file.write_text(f'{json.dumps(SPEC)}\n{{"protocol": "consumer"}}\n')
    with pytest.raises(CommandError, match=r"specs\.jsonl line 2: assignor is missing") as caught:
        assign(file)
    assert caught.value.returncode == 2
    done = program("{", "-")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "not JSON" in done.stderr


def test_a_refused_line_of_a_stream_answers_an_error_and_the_stream_goes_on() -> None:
    wrong = {**SPEC, "topics": {"foo": {"partitions": -1}}}
    throws = {**SPEC, "members": {"A": MEMBER, "B": MEMBER}}
    done = program("\n".join(map(json.dumps, [SPEC, wrong, throws, SPEC])) + "\nnonsense\n", "--stream", "-")
    first, refused, thrown, last, nonsense = map(json.loads, done.stdout.splitlines())
    assert first == last == answer_to(SPEC)
    assert refused == {"error": "topics.foo.partitions: expected a whole number from 0 to 10000000, found -1"}
    assert thrown["faults"] == ["target-overlaps"]
    assert "not JSON" in nonsense["error"]
    assert done.returncode == 0


def test_a_field_that_stands_twice_is_refused_and_not_the_last_of_them_taken() -> None:
    member = '{"subscribed_topics": ["foo"]}'
    twice = json.dumps(SPEC)[:-2] + f', "A": {member}, "A": {member}}}}}'
    done = program(f"{twice}\n{'[' * 1010 + ']' * 1010}\n", "--stream")
    first, deep = map(json.loads, done.stdout.splitlines())
    assert first == {"error": "A: stands twice in one object; expected each topic, member and field once"}
    assert deep == {"error": "the spec: expected an object, found a list"}


def test_an_answer_of_a_stream_comes_before_the_next_question() -> None:
    with subprocess.Popen(
        [sys.executable, "manage.py", "assign", "--stream"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(2):
            child.stdin.write(json.dumps(SPEC) + "\n")
            assert json.loads(child.stdout.readline()) == answer_to(SPEC)
        child.stdin.close()
        assert child.wait() == 0


def test_an_assignor_that_throws_as_kafkas_does_is_exit_1(tmp_path: Path) -> None:
    file = tmp_path / "spec.json"
    file.write_text(json.dumps({**SPEC, "members": {"A": MEMBER, "B": MEMBER}}))
    with pytest.raises(SystemExit) as caught:
        assign(file)
    assert caught.value.code == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"protocol": "eager"}, "protocol: expected one of"),
        ({"assignor": "unifrom"}, "assignor: expected one of uniform, range, client:range"),
        ({"topic": {}}, "topic is no field; did you mean topics?"),
        ({"topics": {"foo": {"partitions": "3"}}}, "topics.foo.partitions: expected a whole number"),
        (
            {"topics": {"foo": {"partitions": 2, "racks": {"2": ["a"]}}}},
            "topics.foo.racks: expected partitions below 2",
        ),
        ({"topics": {"foo": {"partitions": 2, "id": "short"}}}, "topics.foo.id: expected a topic id"),
        ({"members": {"A": {}}}, "members.A.subscribed_topics is missing"),
        (
            {"members": {"A": {"subscribed_topics": ["foo", "foo"]}}},
            "subscribed_topics: foo stands there twice",
        ),
        (
            {"members": {"A": {**MEMBER, "owned": {"foo": [1, 1]}}}},
            "members.A.owned.foo: partition 1 stands there twice",
        ),
        (
            {"members": {"A": {**MEMBER, "owned": {"foo": [-1]}}}},
            "members.A.owned.foo.0: expected a whole number from 0",
        ),
        (
            {"members": {"A": {**MEMBER, "owned": {"foo": [0, True]}}}},
            "members.A.owned.foo.1: expected a whole number from 0",
        ),
        (
            {"members": {"A": {**MEMBER, "owned": {"foo": [1.5]}}}},
            "members.A.owned.foo.0: expected a whole number from 0",
        ),
        ({"members": {"A": {**MEMBER, "user_data": "0g"}}}, "members.A.user_data: expected bytes in hex"),
        ({"topics": {"foo": {"partitions": True}}}, "expected a whole number from 0 to 10000000, found true"),
        (
            {"topics": {"foo": {"partitions": 2, "racks": {"1": ["a"], "01": ["b"]}}}},
            "topics.foo.racks: expected partitions below 2 as keys, found '01'",
        ),
        (
            {"members": {"A": {**MEMBER, "generation": 2**31}}},
            "members.A.generation: expected a whole number",
        ),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as caught:
        answer_to({**SPEC, **change})
    assert said in str(caught.value)


def test_no_members_and_no_topics_are_answered_with_nothing() -> None:
    assert answer_to({**SPEC, "members": {}})["assignment"] == {}
    assert answer_to({**SPEC, "topics": {}})["assignment"] == {"A": {}, "B": {}}


def test_in_a_brokers_order_ids_decide_and_not_the_document() -> None:
    members = {name: {"subscribed_topics": ["foo"]} for name in ("consumer1", "consumer2", "consumer3")}
    spec = {**SPEC, "topics": {"foo": {"partitions": 2}}, "members": members}
    assert answer_to(spec, "document")["assignment"] == {
        "consumer1": {},
        "consumer2": {"foo": [0]},
        "consumer3": {"foo": [1]},
    }
    assert answer_to(spec, "broker")["assignment"] == {
        "consumer1": {"foo": [1]},
        "consumer2": {"foo": [0]},
        "consumer3": {},
    }


@pytest.mark.parametrize(
    ("generation", "taken"), [(-(2**31) - 1, False), (-(2**31), True), (2**31 - 1, True), (2**31, False)]
)
@pytest.mark.long
def test_a_generation_is_what_an_int32_can_be(generation: int, taken: bool) -> None:
    member = {"subscribed_topics": ["foo"], "generation": generation}
    done = program(json.dumps({**SPEC, "members": {"A": member}}) + "\n", "--stream", "-")
    assert ("error" not in json.loads(done.stdout)) is taken
