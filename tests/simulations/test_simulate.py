"""``manage.py simulate`` and the child that simulates, as other programs use them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from groups.history.frames.changes import apply
from groups.history.passes.recorder import RecordedBatch
from groups.wire.logs.batches import read_batches
from simulations import small_scenarios
from simulations.jobs.run import answer
from simulations.output import WHOLE_FRAMES_MEMBERS_MAX

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = "{topics: {foo: {partitions: 2}}, members: {A: {subscribe: [foo]}}, script: [{at: 0s, join: A}], until: 9s}"


def simulate(*arguments: str) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("simulate", *arguments, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def refused(*arguments: str) -> str:
    with pytest.raises(CommandError) as caught:
        simulate(*arguments)
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


def frames_of(lines: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What a reader of ``--format changes`` does."""
    frame: dict[str, Any] = {}
    for line in lines:
        if "changes" in line:
            frame = apply(frame, line["changes"])
            assert (frame["sequence"], frame["at_ms"]) == (line["sequence"], line["at_ms"])
        else:
            frame = {key: value for key, value in line.items() if key != "settled"}
        yield {**frame, "settled": line["settled"]}


def program(*arguments: str, asked: str = "") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "manage.py", "simulate", *arguments],
        cwd=ROOT,
        capture_output=True,
        check=False,
        input=asked.encode(),
    )


def test_steps_of_a_scenario_that_narrates_none_are_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "plain.yaml"
    file.write_text(SCENARIO)
    assert "narrates no steps; give it some, or use --by unit" in refused(str(file), "--by", "step")


def test_by_step_there_is_a_frame_for_each_row_with_its_number_and_words() -> None:
    lines = simulate("kip848-basic", "--semantics", "kip", "--format", "frames", "--by", "step")
    assert [line["step"] for line in lines] == list(range(1, 17))
    assert all(line["settled"] and line["says"] for line in lines)
    assert (lines[-1]["group_epoch"], lines[-1]["state"]) == (3, "Stable")


def test_by_entry_every_entry_has_a_frame_and_by_unit_only_settled_ones() -> None:
    by_entry, by_unit = simulate("kip848-basic"), simulate("kip848-basic", "--by", "unit")
    entries = simulate("kip848-basic", "--format", "entries")
    assert [line["sequence"] for line in by_entry] == [entry["sequence"] for entry in entries]
    assert [line["settled"] for line in by_entry] == [entry["settled"] for entry in entries]
    assert by_unit == [line for line in by_entry if line["settled"]]
    assert len(by_unit) < len(by_entry)


@pytest.mark.parametrize("by", ["entry", "unit"])
@pytest.mark.parametrize("case", ["kip848-basic", "released-fail-over", "released-regex"])
def test_changes_applied_to_the_line_before_give_the_frame_that_frames_shows(case: str, by: str) -> None:
    frames = simulate(case, "--by", by)
    changes = simulate(case, "--format", "changes", "--by", by)
    assert list(frames_of(changes)) == frames
    assert [line["sequence"] for line in changes] == [line["sequence"] for line in frames]
    assert 1 < sum("changes" not in line for line in changes) < len(changes) / 4, "whole ones stand between"


@pytest.mark.long
def test_the_frames_of_more_than_a_hundred_members_come_as_changes_that_weigh_twice_theirs_at_most(
    tmp_path: Path,
) -> None:
    members = [f"m{number}" for number in range(WHOLE_FRAMES_MEMBERS_MAX + 1)]
    told = {member: {"subscribe": ["foo"]} for member in members}
    scenario = {
        "topics": {"foo": {"partitions": 200}},
        "members": told,
        "script": [{"at": f"{number * 10}ms", "join": member} for number, member in enumerate(members)],
        "until": "20s",
    }
    file = tmp_path / "crowd.yaml"
    file.write_text(json.dumps(scenario))
    done = program(str(file))
    assert done.stderr.decode().startswith("More than 100 members: a line holds the changes")
    assert done.stdout == program(str(file), "--format", "changes").stdout
    lines = done.stdout.splitlines()
    whole = [len(line) for line in lines if b'"changes":' not in line]
    assert len(lines) == len(simulate(str(file), "--format", "entries")), "a line for each entry"
    assert sum(map(len, lines)) <= 2 * (sum(map(len, lines)) - sum(whole)) + max(whole)
    assert 2 < len(whole) < len(lines) / 20
    del told[members[-1]]
    scenario["script"] = scenario["script"][:-1]
    file.write_text(json.dumps(scenario))
    assert not any("changes" in line for line in simulate(str(file), "--by", "unit"))


@pytest.mark.parametrize(
    ("semantics", "comes_of_it"), [("kafka", "it is refused"), ("kip", "it matches no topic")]
)
@pytest.mark.parametrize("form", ["frames", "changes", "entries", "records", "segment"])
def test_an_expression_that_does_not_compile_is_told_in_every_format(
    tmp_path: Path, form: str, semantics: str, comes_of_it: str
) -> None:
    if (form, semantics) == ("segment", "kip"):
        form = "records"
    file = tmp_path / "broken.yaml"
    file.write_text(
        "{topics: {foo: {partitions: 2}}, members: {A: {regex: 'fo['}, B: {subscribe: [foo]}}, until: 9s, "
        "script: [{at: 0s, join: A}, {at: 1s, join: B}, {at: 2s, subscribe: B, regex: '(x'}]}"
    )
    err = StringIO()
    out = ["--out", str(tmp_path / "out")]
    call_command("simulate", str(file), "--format", form, "--semantics", semantics, *out, stderr=err)
    assert err.getvalue().splitlines() == [
        f"A subscribes by `fo[`, which is not a valid regular expression (missing closing ]): {comes_of_it}",
        f"B subscribes by `(x`, which is not a valid regular expression (missing closing )): {comes_of_it}",
    ]


def shares(described: dict[str, Any], assignment: str) -> dict[str, dict[str, list[int]]]:
    """Member → topic → partitions of a ConsumerGroupDescribe; KIP-848's field is ``partitions``."""
    return {
        member["memberId"]: {
            each["topicName"]: sorted(each["partitions"])
            for each in member[assignment].get("topicPartitions", member[assignment].get("partitions"))
        }
        for member in described["members"]
    }


@pytest.mark.parametrize(
    ("study", "semantics"), [("kip848-basic", "kip"), ("kip848-six-partitions", "kafka")]
)
def test_a_moment_is_shown_as_a_broker_describes_the_group(study: str, semantics: str) -> None:
    frames = simulate(study, "--semantics", semantics, "--by", "step", "--format", "frames")
    *steps, last = simulate(study, "--semantics", semantics, "--format", "described")
    assert [line["step"] for line in steps] == [frame["step"] for frame in frames]
    assert last["step"] is None
    for line, frame in zip(steps, frames, strict=True):
        group = line["group"]
        assert (line["api"], group["groupState"]) == ("ConsumerGroupDescribe", frame["state"])
        assert (group["groupEpoch"], group["assignmentEpoch"]) == (
            frame["group_epoch"],
            frame["assignment_epoch"],
        )
        assert {each["memberId"]: each["memberEpoch"] for each in group["members"]} == {
            name: member["epoch"] for name, member in frame["members"].items()
        }
        has = {
            name: {
                topic: sorted(
                    {*member["assigned"].get(topic, ()), *member["pending_revocation"].get(topic, ())}
                )
                for topic in {**member["assigned"], **member["pending_revocation"]}
            }
            for name, member in frame["members"].items()
        }
        assert shares(group, "assignment") == has
        members = shares(group, "targetAssignment")
        assert members == {name: frame["target"].get(name, {}) for name in members}


def test_a_group_that_is_classic_again_is_described_as_one() -> None:
    lines = simulate("kip848-migration-back", "--format", "described")
    assert [line["api"] for line in lines[9:11]] == ["ConsumerGroupDescribe", "DescribeGroups"]
    assert [member["memberId"] for member in lines[-1]["group"]["members"]] == ["A~2", "B~2"]


def test_records_come_with_their_place_their_name_and_their_fields() -> None:
    lines = simulate("released-basic", "--semantics", "kafka", "--format", "records")
    assert len(lines) == 48
    assert set(lines[0]) == {
        *("partition", "offset", "batch", "timestamp", "at_ms", "sequence", "unit"),
        *("type", "name", "key", "version", "value"),
    }
    assert (lines[0]["name"], lines[0]["key"]["memberId"]) == ("ConsumerGroupMemberMetadata", "c1")
    assert (lines[-2]["version"], lines[-2]["value"]) == (None, None)


def test_the_output_can_go_to_a_file_and_a_segment_is_bytes(tmp_path: Path) -> None:
    assert simulate("released-basic", "--format", "segment", "--out", str(tmp_path / "log")) == []
    assert sum(len(batch.records) for batch in read_batches((tmp_path / "log").read_bytes())) == 48  # type: ignore[union-attr]
    assert program("released-basic", "--format", "segment").stdout == (tmp_path / "log").read_bytes()


def test_a_scenario_file_is_simulated_with_the_seed_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(SCENARIO)
    first, again, other = (simulate(str(path), "--seed", seed, "--format", "entries") for seed in "112")
    assert first == again != other
    assert program("-", "--seed", "1", "--format", "records", asked=SCENARIO).stdout.count(b"\n") == 5


def test_bad_usage_is_one_line_and_exit_code_two(tmp_path: Path) -> None:
    assert (
        refused("kip848-basik")
        == "kip848-basik is neither a file nor a bundled scenario; did you mean kip848-basic?"
    )
    assert refused("kip848-basic", "--semantics", "both") == "--semantics both: there are kip, kafka"
    assert refused("kip848-basic", "--format", "csv").startswith("--format csv: there are frames,")
    assert refused("kip848-basic", "--by", "second") == "--by second: there are entry, unit, step"
    assert refused("kip848-basic", "--seed", "-1").startswith("--seed -1: expected a whole number")
    assert refused("kip848-basic", "--format", "records", "--by", "step").startswith("--by goes with")
    assert refused("kip848-basic", "--format", "changes", "--by", "step").endswith("by its whole frame")
    assert "needs --semantics kafka" in refused("kip848-basic", "--format", "segment")
    assert refused("kip848-basic", "--out", str(tmp_path)).startswith(f"cannot write {tmp_path}:")
    (tmp_path / "bad.yaml").write_text("topics: {foo: {partitions: 0}}\nmembers: {}\nscript: []\n")
    assert refused(str(tmp_path / "bad.yaml")).endswith(
        "bad.yaml: line 1, topics.foo.partitions: must be 1 to 10000, is 0"
    )
    (tmp_path / "bytes.yaml").write_bytes(b"name: \xff")
    assert "not text in UTF-8" in refused(str(tmp_path / "bytes.yaml"))


def test_the_program_says_one_line_on_standard_error_and_nothing_else() -> None:
    done = program("nothing-of-this-name")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"Traceback" not in done.stderr


def test_a_reader_that_has_enough_ends_the_program_quietly() -> None:
    line = f"{sys.executable} manage.py simulate released-basic --format frames | head -1"
    done = subprocess.run(["sh", "-c", line], cwd=ROOT, capture_output=True, check=False)
    assert (done.stdout.count(b"\n"), done.stderr) == (1, b"")


def ask(question: dict[str, Any], times_s: list[float] | None = None) -> list[dict[str, Any]]:
    """The worker's lines; ``times_s`` are what its clock tells, one after the other, the last one for good."""
    times = list(times_s or [0.0])
    return [
        json.loads(line) for line in answer(question, lambda: times.pop(0) if len(times) > 1 else times[0])
    ]


def test_the_child_gives_batches_of_all_entries_and_says_that_it_is_done() -> None:
    lines = ask({"scenario": "kip848-basic", "semantics": None, "seed": None}, [n / 40 for n in range(2_000)])
    batches = [RecordedBatch.from_line(line) for line in lines if line["type"] == "batch"]
    assert len(batches) > 10
    assert [line["type"] for line in lines][-1] == "done"
    entries = [entry for batch in batches for entry in json.loads(batch.entries)]
    assert entries == simulate("kip848-basic", "--format", "entries")
    assert lines[-1]["entries"] == entries[-1]["sequence"]


def test_the_child_takes_a_name_a_text_or_a_mapping() -> None:
    mapping = {"topics": {"foo": {"partitions": 2}}, "members": {"A": {"subscribe": ["foo"]}}}
    question = {**mapping, "script": [{"at": "0s", "join": "A"}], "until": "9s"}
    told, again, other = ([line for line in ask(asked) if line["type"] == "batch"] for asked in (
        {"scenario": question}, {"scenario": SCENARIO}, {"scenario": question, "seed": 9},
    ))  # fmt: skip
    assert told == again != other


def test_the_child_tells_what_is_wrong_with_a_scenario() -> None:
    assert ask({"scenario": "topics: {}"}) == [
        {
            "type": "error",
            "message": "line 1, members: a scenario needs members",
            "line": 1,
            "field": "members",
        }
    ]
    assert ask({"scenario": "kip848-basic", "semantics": "both"})[0]["type"] == "error"
    assert ask({})[0]["type"] == "error"


def test_the_child_ends_when_its_standard_input_is_closed() -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "simulations.jobs.run"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    long = SCENARIO.replace("9s", "24h").replace("members:", "config: {heartbeat_interval_ms: 100}, members:")
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(json.dumps({"scenario": long}).encode() + b"\n")
    child.stdin.flush()
    assert json.loads(child.stdout.readline())["type"] == "batch"
    child.stdin.close()
    child.stdout.close()
    assert child.wait(timeout=60) == 0


def test_the_child_refuses_a_question_that_is_no_json() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "simulations.jobs.run"],
        cwd=ROOT,
        input=b"?\n",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, json.loads(done.stdout)["type"], done.stderr) == (2, "error", b"")


@pytest.mark.parametrize("name", small_scenarios.names())
def test_every_small_scenario_of_explore_plays_in_simulate(
    name: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    if name == "upgrade-one-bounce":
        with pytest.raises(CommandError, match="C and B~2 both process orders-1"):
            call_command("simulate", name, "--format", "entries")
    else:
        call_command("simulate", name, "--format", "entries")
    assert len(capsysbinary.readouterr().out.splitlines()) > 10


def test_brokers_run_the_release_that_is_asked_for() -> None:
    asked = ("three-join", "--semantics", "kafka", "--format", "entries")
    assert simulate(*asked, "--release", "4.4.0")[0]["payload"]["release"] == "4.4.0"
    assert "release" not in simulate(*asked, "--release", "4.3")[0]["payload"], "4.3.1 needs no words"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--release", "4.9"), "--release: 4.9 is not a release that is simulated: there are 3.9, 4.3.0"),
        (("--release", "4.4.0", "--semantics", "kip"), "a release has rules in kafka semantics alone"),
        (("--release", "3.9"), "A is a member of the consumer protocol, which brokers 3.9 do not serve"),
    ],
)
def test_a_release_that_cannot_be_is_refused_in_one_line(arguments: tuple[str, ...], says: str) -> None:
    told = refused("three-join", "--semantics", "kafka", *arguments)
    assert says in told
    assert "\n" not in told.strip()
