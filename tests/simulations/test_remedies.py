"""What would have helped: an incident replayed as it was and under remedies, measured and ranked."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from groups.history.entries import Kind
from groups.history.evidence.display_names import NamedMember
from groups.history.findings.finding import finding
from groups.history.frames.frame import frame
from groups.history.replay.fold import replay
from groups.history.state.group import Semantics, initial_state
from simulations.fork.values import Moment
from simulations.jobs import remedy_child
from simulations.jobs.incidents import in_plain
from simulations.remedies.assumptions import as_killed
from simulations.remedies.catalog import remedies_of
from simulations.remedies.incident import of_log, of_run
from simulations.remedies.measuring import measured
from simulations.remedies.searching import branch_text, missed, outcome_of, ranked, runs_of, search, spread_of
from simulations.remedies.values import Answer, Incident, Measures, Outcome, RemediesError
from simulations.world.engine import run
from simulations.world.scenario import load
from tests.simulations.test_fork import entries_of, moment_of

pytestmark = pytest.mark.once

STATIC = """name: g
protocol: {protocol}
topics: {{foo: {{partitions: 4, rate: 10}}}}
config: {{session_timeout_ms: 45000}}
members:
  A: {{subscribe: [foo], instance_id: a}}
  B: {{subscribe: [foo], instance_id: b{supervisor}}}
script:
  - {{at: 0s, join: A}}
  - {{at: 1s, join: B}}
  - {{at: 20s, kill: B}}
until: 90s
"""


@cache
def answered(name: str, at: int, seeds: int = 2) -> Answer:
    *_, last = search(of_run(moment_of(name, at)), seeds)
    assert last["done"] == last["runs"]
    return last["answer"]


def by_key(answer: Answer) -> dict[str, Any]:
    return {row["key"]: row for row in answer["rows"]}


def test_processes_that_share_the_runs_come_to_the_same_answer() -> None:
    incident = of_run(moment_of("incident-session-expiry", 14))
    question = {"incident": in_plain(incident), "seeds": 2}
    *_, last, done = remedy_child.answer(question, lambda: 0.0)
    assert isinstance(last, dict)
    assert (last["answer"], done) == (answered("incident-session-expiry", 14), {"type": "done"})


@pytest.mark.parametrize(("protocol", "away_ms"), [("classic", 5_000), ("consumer", 45_000)])
def test_a_supervisor_starts_a_killed_static_member_again_until_it_is_let_in(
    protocol: str, away_ms: int
) -> None:
    """A consumer group refuses its instance (UNRELEASED_INSTANCE_ID) until the session of the former process expires."""
    alone, supervised = (
        measured(load(STATIC.format(protocol=protocol, supervisor=text), "g"), Semantics.KAFKA, 1)[0]
        for text in ("", ", restart_after_ms: 5000")
    )
    before_ms = measured(
        load(
            STATIC.format(protocol=protocol, supervisor="").replace("20s, kill: B", "20s, heartbeat: B"), "g"
        ),
        Semantics.KAFKA,
        1,
    )[0].not_read_ms
    assert 2 * away_ms <= supervised.not_read_ms - before_ms < 2 * (away_ms + 5_500)
    assert alone.not_read_ms - before_ms >= 2 * 45_000 - 1_000


def test_remedies_of_a_killed_member_are_ranked_by_what_is_not_read() -> None:
    answer = answered("incident-session-expiry", 14)
    rows = by_key(answer)
    assert answer["why"] is None
    assert answer["rows"][0]["key"] == "replay"
    assert (
        answer["recorded"]["not_read_ms"] == 2 * 45_066
    )  # two partitions until the session expires, and the rebalance
    assert rows["replay"]["not_read_ms"]["least"] <= 2 * 45_066 + 2_000
    assert rows["session-10000"]["outcome"] == "less"
    assert 2 * 7_000 < rows["session-10000"]["not_read_ms"]["median"] < 2 * 13_000
    assert {rows[key]["outcome"] for key in ("static", "poll-60000", "assignor-range")} == {"no difference"}
    # Nobody else takes its partitions over until the run ends.
    assert rows["session-90000"]["outcome"] == "more"
    assert rows["session-90000"]["not_read_ms"]["seeds"][0] == 2 * 70_000
    outcomes = [row["outcome"] for row in answer["rows"][1:]]
    assert outcomes == sorted(outcomes, key=["less", "no difference", "more"].index)


def test_the_assumption_that_an_answer_depends_on_is_found_by_varying_each() -> None:
    rows = by_key(answered("incident-session-expiry", 14))
    depends = rows["session-10000"]["depends_on"]
    assert (depends["name"], depends["other"]) == ("how a member's process ends", "close() is called")
    # With close() the group hears at once, in the replay as with the remedy: next to nothing is saved.
    assert depends["replay_ms"] - depends["not_read_ms"] < 5_000
    assert rows["poll-60000"]["depends_on"] is None, "nothing moves an answer of no difference"


@pytest.mark.long
def test_an_eager_group_with_a_late_poll_has_both_measures_and_what_is_read_twice() -> None:
    rows = by_key(answered("kip429-eager", 60))
    replay, cooperative = rows["replay"], rows["cooperative"]
    assert replay["interrupted"]["median"] == 2  # A and C, while the group waits for B
    assert cooperative["outcome"] == rows["consumer"]["outcome"] == "less"
    assert cooperative["unassigned_ms"]["median"] < replay["unassigned_ms"]["median"] / 2
    # B polls 12 s late with three partitions, whatever the assignor.
    assert cooperative["not_read_ms"]["median"] > 3 * 12_000
    assert cooperative["read_twice"]["median"] > 0


def test_a_replay_that_misses_the_recording_ranks_nothing_and_states_both_values() -> None:
    incident = of_run(moment_of("incident-session-expiry", 14))
    incident.recorded["not_read_ms"] = 400_000
    *_, last = search(incident, 2)
    answer = last["answer"]
    assert [row["key"] for row in answer["rows"]] == ["replay"]
    assert answer["why"] is not None
    assert (
        "the recording has 400.0 partition-seconds not read, the 2 replays with nothing changed 8"
        in answer["why"]
    )


def of_records(name: str, at: int) -> Incident:
    """The incident as its records alone have it: who went and came, not how it ended nor what was read."""
    moment = moment_of(name, at)
    log = of_log(Moment(frame=moment.frame, semantics=moment.semantics), entries_of(name))
    assert log.of_records
    assert log.recorded["not_read_ms"] is None
    return log


def test_of_a_log_the_answer_depends_on_how_the_removed_member_ended() -> None:
    *_, last = search(of_records("incident-session-expiry", 14), 1)
    row = by_key(last["answer"])["session-10000"]
    assert (row["outcome"], row["depends_on"]["name"]) == ("no difference", "how a member's process ends")
    assert row["depends_on"]["outcome"] == "less"
    assert row["depends_on"]["replay_ms"] - row["depends_on"]["not_read_ms"] > 2 * 30_000


def test_of_a_log_whose_commits_show_a_death_the_member_was_killed_then() -> None:
    """Records have its removal alone; its last commit was a session before it."""
    closed = of_records("incident-session-expiry", 14)
    moment = moment_of("incident-session-expiry", 14)
    (line,) = [each for each in closed.document["script"] if "leave" in each]
    removed_ms = moment.at_ms + int(line["at"].removesuffix("ms"))
    (member,) = [each for each in moment.frame["members"] if each.partition("~")[0] == line["leave"]]
    removed = finding(
        "removed", "", [], member=member, at_ms=removed_ms, quiet_ms=44_000, looks_like="session_expired"
    )
    incident = of_log(
        Moment(frame=moment.frame, semantics=moment.semantics),
        entries_of("incident-session-expiry"),
        [removed],
    )
    at_ms = removed_ms - 44_000 - moment.at_ms
    assert {"at": f"{at_ms}ms", "kill": line["leave"]} in incident.document["script"]


REJOINED = """group: g
protocol: classic
topics: {foo: {partitions: 4}}
members:
  A: {subscribe: [foo], auto_commit: true}
  B: {subscribe: [foo], auto_commit: true, session_timeout_ms: 10000}
script:
  - {at: 0s, join: [A, B]}
  - {at: 20s, kill: B}
  - {at: 26s, join: B}
until: 60s
"""


@pytest.mark.parametrize(
    ("looks_like", "quiet_ms", "stopped_for_ms", "down"),
    [
        ("left", 4_500, 9_500, {"at": "17506ms", "leave": "B"}),
        ("session_expired", 8_000, 9_500, {"at": "14006ms", "kill": "B"}),
        ("session_expired", 23_000, 0, {"at": "20506ms", "leave": "B"}),
    ],
)
def test_a_member_that_was_removed_in_the_generation_that_it_is_back_in_ends_after_the_moment_and_joins_later(
    looks_like: str, quiet_ms: int, stopped_for_ms: int, down: dict[str, str]
) -> None:
    """A classic group's records have both at once. Who died before the moment closes when it is removed, half a heartbeat before the record."""
    entries = [each for each in run(load(REJOINED, "g")) if each.kind in (Kind.RECORD, Kind.NOTE)]
    state = initial_state("g")
    for entry in entries:
        if entry.at_ms <= 10_000:
            state = replay(state, entry)
    (removed_ms,) = {each.at_ms for each in entries if each.at_ms > 28_000 and each.payload.get("type") == 2}
    removed = finding(
        "removed", "", [], member="B", at_ms=removed_ms, quiet_ms=quiet_ms, looks_like=looks_like
    )
    stopped = finding("group_stopped", "", [], from_ms=removed_ms - stopped_for_ms, to_ms=removed_ms)
    cast = [NamedMember(id=each, name=each, joined=0, lane=each) for each in ("A", "B", "B~2")]
    log = of_log(Moment(frame=frame(state), cast=cast), entries, [removed, stopped])
    assert log.document["script"] == [down, {"at": down["at"], "join": "B"}]
    *_, last = search(log, 1)
    assert last["done"]


def test_of_a_log_whose_replay_misses_with_close_the_members_were_killed() -> None:
    """85.9 partition-seconds unassigned are no members that leave at once."""
    log = of_records("incident-rebalance-storm", 20)
    assert {key for line in log.document["script"] for key in line if key != "at"} == {"leave", "join"}
    assert {key for line in as_killed(log).document["script"] for key in line if key != "at"} == {
        "kill",
        "join",
    }
    first = next(iter(search(log, 1)))
    assert first["answer"]["rows"] == []
    assert log.recorded["unassigned_ms"] == 85_880


def test_bounds_have_a_reason_and_a_moment_without_an_incident_is_refused() -> None:
    incident = of_run(moment_of("incident-session-expiry", 14))
    with pytest.raises(RemediesError, match="seeds=51 must be a whole number from 1 to 50"):
        runs_of(incident, 51)
    crowd = {f"m{number}": incident.document["members"]["A"] for number in range(100)}
    with pytest.raises(RemediesError, match="are more than 30,000 together; take fewer seeds"):
        runs_of(of_many(incident, crowd), 50)
    with pytest.raises(RemediesError, match="every partition was read"):
        of_run(moment_of("incident-session-expiry", len(entries_of("incident-session-expiry")) - 1))
    with pytest.raises(RemediesError, match="'wish' is no remedy"):
        branch_text(incident, "wish")


def of_many(incident: Any, members: dict[str, Any]) -> Any:
    return incident.__class__(
        document={**incident.document, "members": members},
        semantics=incident.semantics,
        seed=incident.seed,
        recorded=incident.recorded,
        assumptions=incident.assumptions,
    )


def test_an_outcome_is_what_most_seeds_agree_on() -> None:
    def runs(*seconds: int) -> list[Measures]:
        return [Measures(each * 1_000, 0, 0, 0) for each in seconds]

    assert outcome_of(runs(90, 90, 90), runs(20, 20, 120)) == (Outcome.LESS, 2)
    assert outcome_of(runs(90, 90, 90), runs(91, 89, 90)) == (Outcome.NONE, 0)
    assert outcome_of(runs(90, 90, 90), runs(120, 120, 20)) == (Outcome.MORE, 1)
    recorded = {"not_read_ms": None, "unassigned_ms": 100_000, "epochs": 2}
    assert missed(recorded, [Measures(0, 90_000, 0, 0)], [2]) is None  # type: ignore[arg-type]
    assert "the recording has 100.0 partition-seconds unassigned" in str(
        missed(recorded, [Measures(0, 9_000, 0, 0)], [2])  # type: ignore[arg-type]
    )
    assert "the recording has 2 new epochs" in str(missed(recorded, [Measures(0, 90_000, 0, 0)], [9]))  # type: ignore[arg-type]
    assert spread_of([3, 1, 2, 9]) == {"least": 1, "median": 2, "most": 9, "seeds": [3, 1, 2, 9]}
    assert ranked([]) == []


def test_every_remedy_of_a_rolling_deploy_is_a_scenario_that_runs() -> None:
    incident = of_run(moment_of("incident-rebalance-storm", 20))
    keys = [remedy.key for remedy in remedies_of(incident.document)]
    assert keys == ["static", "session-10000", "session-90000", "poll-60000", "assignor-range", "close"]
    for key in keys:
        load(branch_text(incident, key)[1], key)
