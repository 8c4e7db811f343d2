"""A classic group: one record a generation, what its bytes say, and the way to the new protocol and back."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from groups.history.entries import Kind
from groups.history.evidence.between import step_between
from groups.history.evidence.ownership import Ownership
from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription
from tests.history.logs import FOO, STABLE, Log, Records, record

R = Records()


def generation(
    number: int, members: dict[str, list[int]], leader: str | None = None, **fields: Any
) -> dict[str, Any]:
    """A type 2 record; members with their partitions of topic foo."""
    value = {
        "protocolType": "consumer",
        "generation": number,
        "protocol": "range" if members else None,
        "leader": leader or next(iter(members), None),
        "currentStateTimestamp": 5,
        "members": [member(name, partitions) for name, partitions in members.items()],
    }
    return record(2, {"group": "orders"}, value | fields)


def member(name: str, partitions: list[int]) -> dict[str, Any]:
    subscription = encode_subscription(
        {"version": 1, "topics": ["foo"], "userData": None, "ownedPartitions": []}
    )
    topics = [{"topic": "foo", "partitions": partitions}] if partitions else []
    assignment = encode_assignment({"version": 1, "assignedPartitions": topics, "userData": None})
    return {
        "memberId": name,
        "groupInstanceId": None,
        "clientId": name.lower(),
        "clientHost": "/127.0.0.1",
        "rebalanceTimeout": 300_000,
        "sessionTimeout": 45_000,
        "subscription": base64.b64encode(subscription).decode(),
        "assignment": base64.b64encode(assignment).decode(),
    }


CLASSIC_KEYS = ("protocol", "state", "generation", "leader", "protocol_name", "protocol_type")


def three_generations() -> Log:
    log = Log()
    log.at(0).write(generation(0, {}, protocolType=""))
    log.at(3000).write(generation(1, {"A": [0, 1, 2]}))
    log.at(9000).write(generation(2, {"A": [0, 1], "B": [2]}))
    log.at(20_000).write(R.commit(2, 8))
    log.at(60_000).write(generation(3, {"A": [0, 1, 2]}))
    return log


def test_the_frame_of_a_classic_group() -> None:
    frame = three_generations().frame(at=3)
    assert {key: frame[key] for key in CLASSIC_KEYS} == {
        "protocol": "classic",
        "state": "Stable",
        "generation": 2,
        "leader": "A",
        "protocol_name": "range",
        "protocol_type": "consumer",
    }
    assert frame["members"]["B"] == {
        "protocol": "classic",
        "client_id": "b",
        "host": "/127.0.0.1",
        "instance_id": None,
        "rack_id": None,
        "subscribed": ["foo"],
        "assigned": {"foo": [2]},
        "session_timeout_ms": 45_000,
        "rebalance_timeout_ms": 300_000,
    }
    assert "target" not in frame
    assert "group_epoch" not in frame
    assert frame["topics"] == {"foo": {"id": None, "partitions": None}}


def test_a_group_of_another_protocol_type_keeps_its_bytes_to_itself() -> None:
    log = Log()
    log.write(generation(1, {"A": [0]}, protocolType="sr"))
    assert log.frame()["members"]["A"]["assigned"] == {}
    assert log.state().anomalies == ()


def test_bytes_that_cannot_be_read_are_an_anomaly_and_the_member_stands() -> None:
    broken = member("A", [0]) | {"assignment": "AAA="}
    log = Log()
    log.write(record(2, {"group": "orders"}, generation(1, {})["value"] | {"members": [broken]}))
    assert [anomaly.kind for anomaly in log.state().anomalies] == ["unreadable"]
    shown = log.frame()["members"]["A"]
    assert (shown["assigned"], list(shown["unreadable"])) == (None, ["assignment"])
    assert shown["unreadable"]["assignment"] in log.state().anomalies[0].says
    # The same bytes in the next generation are as unreadable, though they are not read again.
    log.write(record(2, {"group": "orders"}, generation(2, {})["value"] | {"members": [broken]}))
    assert log.frame()["members"]["A"]["assigned"] is None
    assert [one for one in log.recorded().summary["findings"] if one["kind"] == "idle_members"] == []


def test_moments_and_verdict_of_generations() -> None:
    batch = three_generations().recorded()
    assert [(moment["shape"], moment["says"]) for moment in orjson.loads(batch.moments)] == [
        ("state", "The group begins, empty"),
        ("join", "A joins; generation 1: A gets foo-0, foo-1, foo-2"),
        (
            "join",
            "B joins; generation 2: B gets foo-2; every member stopped for it (inferred: range is eager)",
        ),
        ("commit", "Offsets of foo-2 are committed"),
        (
            "remove",
            "B is gone; no record says why; generation 3: A gets foo-2; "
            "every member stopped for it (inferred: range is eager)",
        ),
    ]
    assert batch.summary["verdict"]["text"] == (
        "A and B joined one after another (generations 1–2). "
        "At 1\u202fmin 0\u202fs B was removed; the log does not say why. "
        "1 partition moved. "
        "1 eager rebalance (range): every member stopped for it (inferred)."
    )


def test_a_cooperative_rebalance_frees_partitions_in_one_generation_and_gives_them_in_the_next() -> None:
    log = Log()
    log.at(0).write(generation(1, {"A": [0, 1]}, protocol="cooperative-sticky"))
    log.at(5000).write(generation(2, {"A": [0], "B": []}, protocol="cooperative-sticky"))
    log.at(6000).write(generation(3, {"A": [0], "B": [1]}, protocol="cooperative-sticky"))
    batch = log.recorded()
    assert [moment["says"] for moment in orjson.loads(batch.moments)] == [
        "A joins; generation 1: A gets foo-0, foo-1",
        "B joins; generation 2: foo-1 is unassigned",
        "Generation 3: B gets foo-1",
    ]
    assert "foo-1 was unassigned for 1.0\u202fs" in batch.summary["verdict"]["text"]


def test_generations_are_the_epochs_of_the_summary() -> None:
    starts = [(one["epoch"], one["sequence"]) for one in three_generations().recorded().summary["epochs"]]
    assert starts == [(1, 2), (2, 3), (3, 5)]


def test_commits_alone_have_a_verdict_of_their_own() -> None:
    log = Log()
    log.write(R.commit(0, 8))
    batch = log.recorded()
    assert batch.summary["verdict"]["text"] == "Commits only; the log tells nothing of members."
    assert batch.summary["state"] == "Empty"


def test_a_log_that_tells_nothing_has_the_verdict_unknown() -> None:
    log = Log()
    log.write({"type": 31, "key_bytes": "AB8=", "value_bytes": None})
    assert log.recorded().summary["verdict"]["text"] == "Unknown: the log tells nothing of members."


def test_requests_tell_the_phases_that_leave_no_record() -> None:
    log = Log()
    log.write(generation(1, {"A": [0]}))
    states = [log.frame()["state"]]
    join = log._add(Kind.REQUEST, "B", {"api": "JoinGroup", "version": 9, "body": {"memberId": "B"}})
    states.append(log.frame()["state"])
    log._add(
        Kind.RESPONSE, "coordinator", {"api": "JoinGroup", "to": "B", "body": {"errorCode": 0}}, cause=join
    )
    states.append(log.frame()["state"])
    log.write(generation(2, {"A": [0], "B": []}))
    states.append(log.frame()["state"])
    assert states == ["Stable", "PreparingRebalance", "CompletingRebalance", "Stable"]


def upgrade() -> tuple[dict[str, Any], ...]:
    return (
        record(2, {"group": "orders"}, None),
        R.member("A", classicMemberMetadata={"sessionTimeoutMs": 45_000, "supportedProtocols": []}),
        R.epoch(3),
        R.target("A", 0, 1, 2),
        record(6, {"groupId": "orders"}, {"assignmentEpoch": 3}),
        R.current("A", 3, 3, STABLE, {0: 3, 1: 3, 2: 3}),
        R.member("B"),
        R.epoch(4),
        R.target("A", 0, 1),
        R.target("B", 2),
        R.target_epoch(4),
        R.current("B", 4, 0, 2),
    )


def test_a_migration_stays_within_the_timeline() -> None:
    log = three_generations()
    log.topics(foo={"id": FOO, "partitions": 3})
    log.at(70_000).write(*upgrade())
    frame = log.frame()
    assert (frame["protocol"], frame["group_epoch"], frame["state"]) == ("consumer", 4, "Reconciling")
    assert {name: part["protocol"] for name, part in frame["members"].items()} == {
        "A": "classic",
        "B": "consumer",
    }
    assert log.state().anomalies == ()
    moment = orjson.loads(log.recorded().moments)[-1]
    assert moment["says"] == "The group moves to the consumer protocol; B joins"

    gone = [R.gone(kind, name) for kind in (8, 7) for name in ("A", "B")]
    ends = (R.gone(6), R.gone(5, "A"), R.gone(5, "B"), R.gone(4), R.gone(3), generation(5, {"A": [0, 1, 2]}))
    log.at(80_000).write(*gone, *ends)
    frame = log.frame()
    assert (frame["protocol"], frame["generation"], frame["state"]) == ("classic", 5, "Stable")
    back = "The group goes back to the classic protocol; B is removed; no record says why"
    assert orjson.loads(log.recorded().moments)[-1]["says"] == back
    gone_members = [f["says"] for f in log.recorded().summary["findings"] if f["kind"] == "removed"]
    assert gone_members[-1] == "B was removed; the log does not say why"


def test_owners_keep_what_they_have_through_a_migration() -> None:
    log = three_generations()
    log.write(*upgrade())
    before, after = log.state(at=5), log.state()
    own = Ownership()
    own.add(step_between(before, after, tuple(log.entries[5:]), ()))
    assert own.owner == {(FOO, 0): "A", (FOO, 1): "A", (FOO, 2): "A"}
    assert own.free == {}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (79, []),
        (27, [("note", "B is told to join again (REBALANCE_IN_PROGRESS)")]),
        (81, [("fault", "B is refused: GROUP_MAX_SIZE_REACHED")]),
    ],
)
def test_who_joins_and_is_turned_away_is_told_unless_it_is_only_given_an_id(
    code: int, said: list[tuple[str, str]]
) -> None:
    log = Log()
    log.write(generation(1, {"A": [0]}))
    asked = {"api": "JoinGroup", "version": 9}
    log._add(Kind.REQUEST, "A", {**asked, "body": {"memberId": "A"}})
    begun = len(orjson.loads(log.recorded().moments))
    join = log._add(Kind.REQUEST, "B", {**asked, "body": {"memberId": "B"}})
    body = {"errorCode": code, "memberId": "B"}
    log._add(Kind.RESPONSE, "coordinator", {"api": "JoinGroup", "to": "B", "body": body}, cause=join)
    moments = orjson.loads(log.recorded().moments)[begun:]
    assert [(moment["shape"], moment["says"]) for moment in moments] == said


@pytest.mark.parametrize(
    ("stay", "said"),
    [
        ({"A": [0], "B": [1]}, "; C has left"),
        ({"A": [0]}, "; C has left; B is gone, no record says why"),
    ],
)
def test_who_leaves_is_told_so_where_the_request_is_there(stay: dict[str, list[int]], said: str) -> None:
    log = Log()
    log.write(generation(1, {"A": [0], "B": [1], "C": []}))
    request = log._add(Kind.REQUEST, "C", {"api": "LeaveGroup", "version": 5, "body": {"members": []}})
    log.write(generation(2, stay), cause=request)
    moment = orjson.loads(log.recorded().moments)[-1]
    assert (moment["shape"], moment["actor"]) == ("leave", "C")
    assert moment["says"].startswith("C leaves; generation 2")
    assert moment["says"].endswith(said)


@pytest.mark.parametrize("protocol_type", ["consumer", "sr"])
def test_members_of_a_schema_registry_own_no_partitions_and_are_not_idle(protocol_type: str) -> None:
    log = Log()
    log.at(0).write(generation(1, {"A": [], "B": []}, protocolType=protocol_type))
    log.at(30_000).write(generation(2, {"A": [], "B": [], "C": []}, protocolType=protocol_type))
    log.at(35_000).write(generation(3, {"A": [], "B": [], "C": []}, protocolType=protocol_type))
    idle = [each["says"] for each in log.recorded().summary["findings"] if each["kind"] == "idle_members"]
    assert bool(idle) is (protocol_type == "consumer")
