"""A fork: a run that continues otherwise from a moment, or a group that is taken over as the log has it."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.entries import Entry
from groups.history.frames.frame import frame
from groups.history.frames.shapes import Frame
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from simulations.fork.edits import edits_of
from simulations.fork.forking import fork
from simulations.fork.taking_over import taken_over
from simulations.fork.values import Edits, Fork, ForkError, How, Moment
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.scenario import Scenario, load
from tests.tiers import examples

pytestmark = pytest.mark.once

FEW = ("kip848-six-partitions", "released-static-replacement", "incident-rebalance-storm", "kip429-eager")


@cache
def entries_of(name: str) -> tuple[Entry, ...]:
    return tuple(run(studies.load(name)))


def frame_after(entries: tuple[Entry, ...], scenario: Scenario, sequence: int) -> Frame:
    state = initial_state(scenario.group, scenario.semantics)
    for entry in entries[:sequence]:
        state = replay(state, entry)
    return frame(state)


def moment_of(name: str, sequence: int, **more: Any) -> Moment:
    scenario = studies.load(name)
    known = {"scenario": scenario, "semantics": scenario.semantics, "seed": scenario.seed}
    return Moment(frame=frame_after(entries_of(name), scenario, sequence), **(known | more))


def played(branch: Fork) -> tuple[Entry, ...]:
    return tuple(run(load(branch.text, "fork"), branch.semantics, branch.seed))


def fork_equals_run(name: str, sequence: int, after_ms: int) -> None:
    """Two forks of a moment: one without a change is the run, one with a fail-over is the run up to the moment."""
    entries, moment = entries_of(name), moment_of(name, sequence)
    unchanged = fork(moment, Edits())
    assert (unchanged.how, unchanged.left_out) == (How.SAME_RUN, ())
    assert played(unchanged) == entries
    changed = fork(moment, edits_of(None, [{"do": "fail_over", "after_ms": after_ms}]))
    assert played(changed)[:sequence] == entries[:sequence]


@pytest.mark.parametrize("name", FEW)
def test_until_the_moment_a_fork_is_the_run_entry_by_entry(name: str) -> None:
    fork_equals_run(name, len(entries_of(name)) // 2, 7_000)


@pytest.mark.long
@examples(25)
@given(name=st.sampled_from(studies.names()), share=st.floats(0, 1), after_ms=st.integers(0, 20_000))
def test_forks_at_any_moment_equal_their_runs(name: str, share: float, after_ms: int) -> None:
    """In ``make proof`` these are 1,000 forks: 500 moments, two of each."""
    fork_equals_run(name, 1 + int(share * (len(entries_of(name)) - 1)), after_ms)


def holdings(shown: Frame) -> dict[str, Any]:
    return {
        member_id.partition("~")[0]: (
            member.get("epoch"),
            member["assigned"],
            member.get("pending_revocation"),
            member.get("session_timeout_ms"),
        )
        for member_id, member in shown["members"].items()
    }


SETTLED = (
    ("kip848-six-partitions", 0.6),
    ("released-six-partitions", 0.5),
    ("incident-stuck-unrevoked", 0.4),
)


@pytest.mark.parametrize(("name", "share"), SETTLED)
def test_a_group_that_is_taken_over_begins_as_the_frame_shows_it(name: str, share: float) -> None:
    entries = entries_of(name)
    moment = moment_of(name, int(len(entries) * share))
    branch = taken_over(moment, Edits())
    scenario, begun = load(branch.text, "fork"), []
    state = initial_state(scenario.group, branch.semantics)
    for entry in played(branch)[:60]:
        state = replay(state, entry)
        begun.append(frame(state))
    same = [shown for shown in begun if holdings(shown) == holdings(moment.frame)]
    assert same
    assert same[0]["group_epoch"] == moment.frame["group_epoch"]
    assert same[0]["target"] == moment.frame["target"]
    assert same[0]["at_ms"] - moment.at_ms <= 1_000


def test_a_log_gives_what_it_has_and_everything_else_is_a_row_of_its_own() -> None:
    moment = moment_of("released-six-partitions", len(entries_of("released-six-partitions")), scenario=None)
    rows = {row["key"]: row for row in taken_over(moment, Edits()).assumptions}
    assert rows["group_epoch"]["mark"] == "in the log"
    assert (rows["session_timeout_ms"]["mark"], rows["session_timeout_ms"]["value"]) == ("assumed", 45_000)
    assert (rows["rate"]["mark"], rows["rate"]["value"]) == ("unknown", None)
    changed = taken_over(moment, edits_of({"session_timeout_ms": 60_000, "assignor": "range"}, None))
    rows = {row["key"]: row for row in changed.assumptions}
    assert (rows["session_timeout_ms"]["mark"], rows["session_timeout_ms"]["value"]) == (
        "changed by you",
        60_000,
    )
    scenario = load(changed.text, "fork")
    assert scenario.settings.session_timeout_ms == 60_000
    assert scenario.settings.assignors[0] == "range"


def test_a_killed_member_of_a_taken_over_group_is_removed_when_the_assumed_session_ends() -> None:
    moment = moment_of("released-six-partitions", len(entries_of("released-six-partitions")), scenario=None)
    who = next(iter(moment.frame["members"]))
    edits = edits_of({"session_timeout_ms": 50_000}, [{"do": "kill", "who": who, "after_ms": 1_000}])
    branch = taken_over(moment, edits)
    gone = next(
        entry
        for entry in played(branch)
        if entry.kind == "record" and entry.payload["type"] == 5 and entry.payload["value"] is None
    )
    assert 45_000 <= gone.at_ms - moment.at_ms <= 51_100


def test_a_log_that_lacks_a_subscription_is_refused_in_a_sentence_and_forked_once_it_is_given() -> None:
    moment = moment_of("released-six-partitions", len(entries_of("released-six-partitions")), scenario=None)
    members = {key: dict(member) for key, member in moment.frame["members"].items()}
    who = list(members)[-1]
    members[who]["subscribed"] = []
    poor: Any = {**moment.frame, "members": members}
    with pytest.raises(ForkError) as refused:
        taken_over(Moment(frame=poor), Edits())
    assert (
        str(refused.value)
        == f"This log begins in the middle of the group. Missing: member {who}'s subscription."
    )
    assert [row["mark"] for row in refused.value.assumptions if row["key"] == f"{who}.subscribe"] == [
        "unknown"
    ]
    given = taken_over(Moment(frame=poor), edits_of({f"{who}.subscribe": ["foo"]}, None))
    assert load(given.text, "fork").members[who].subscribe == ("foo",)


def test_a_group_moves_to_the_other_protocol_member_by_member() -> None:
    moment = moment_of("released-six-partitions", len(entries_of("released-six-partitions")), scenario=None)
    branch = taken_over(moment, edits_of({"protocol": "classic"}, None))
    assert branch.text.count('"bounce"') == len(moment.frame["members"])
    state = initial_state(load(branch.text, "fork").group)
    for entry in played(branch):
        state = replay(state, entry)
    assert {member["protocol"] for member in frame(state)["members"].values()} == {"classic"}


@pytest.mark.parametrize(
    ("name", "refused"), [("kip429-eager", ""), ("kip341-generation", "librdkafka does not know sticky")]
)
def test_a_classic_log_goes_on_with_librdkafka_where_it_knows_the_assignor(name: str, refused: str) -> None:
    moment = moment_of(name, len(entries_of(name)) * 2 // 3, scenario=None)
    edits = edits_of({"client": "librdkafka"}, None)
    if refused:
        with pytest.raises(ForkError, match=refused):
            taken_over(moment, edits)
        return
    members = load(taken_over(moment, edits).text, "fork").members.values()
    assert {member.classic and member.classic.client for member in members} == {"librdkafka"}


def test_later_lines_that_an_edit_makes_impossible_are_left_out_with_their_reason() -> None:
    name = "released-member-failure"
    scenario = studies.load(name)
    kill = next(action for action in scenario.script if action.verb == "kill")
    before = next(e.sequence for e in entries_of(name) if e.at_ms > scenario.start_ms)
    branch = fork(moment_of(name, before), edits_of(None, [{"do": "kill", "who": kill.who}]))
    assert branch.how is How.SAME_RUN
    assert len(branch.left_out) >= 1
    assert f"kill: {kill.who}" in branch.left_out[0]


@pytest.mark.parametrize(
    ("settings", "faults", "field", "words"),
    [
        ({"sesion_timeout_ms": 1}, None, "set.sesion_timeout_ms", "did you mean session_timeout_ms?"),
        ({"session_timeout_ms": 0}, None, "set.session_timeout_ms", "from 1 to"),
        (None, [{"do": "explode", "who": "A"}], "faults[0].do", "must be one of kill"),
        (None, [{"do": "slow_revoke", "who": "A"}], "faults[0].for_ms", "needs for_ms"),
        (None, [{"do": "kill", "who": "A", "when": 1}], "faults[0]", "is no field of a fault"),
        (None, [{"do": "add_partitions", "who": "foo"}], "faults[0].to", "needs to"),
        (None, [{"do": "kill", "who": "A"}] * 51, "faults", "at most 50 faults"),
        (None, [{"do": "kill", "who": "Z"}], "faults", "unknown member Z"),
    ],
)
def test_an_edit_that_cannot_be_made_is_refused_with_its_place(
    settings: Any, faults: Any, field: str, words: str
) -> None:
    moment = moment_of("released-six-partitions", 40)
    with pytest.raises(ForkError, match=words.replace("?", r"\?")) as refused:
        fork(moment, edits_of(settings, faults))
    assert refused.value.field == field


def test_a_moment_without_members_or_of_another_kind_of_group_is_refused() -> None:
    moment = moment_of("released-six-partitions", 40, scenario=None)
    empty: Any = {**moment.frame, "members": {}}
    share: Any = {**moment.frame, "protocol": "share"}
    for wrong, words in ((empty, "Nobody is in the group"), (share, "a share group")):
        with pytest.raises(ForkError, match=words):
            taken_over(Moment(frame=wrong), Edits())


def test_a_slow_callback_of_before_the_moment_is_taken_over() -> None:
    """A takes 90 s in its callback, as the script said before: with another assignor, too."""
    branch = fork(moment_of("incident-slow-revocation", 14), edits_of({"assignor": "range"}, None))
    assert '- {"at": "0ms", "slow_revoke": "A", "for": "90000ms"}' in branch.text
