"""``send`` of a scenario: every rule by which a coordinator refuses a request is broken by one, and answers with its own words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from groups.history.entries import Entry, Kind
from groups.history.passes.recorder import Recorder
from simulations.invariants import INVARIANT_FAULT
from simulations.invariants.scripted import ACCEPTED
from simulations.protocol.messages.errors import ErrorCode
from simulations.world.engine import run
from simulations.world.engine.checked_run import checker_of
from simulations.world.engine.simulation import Simulation
from simulations.world.scenario import ScenarioError, load

GROUP = """\
group: g
semantics: {semantics}
topics: {{foo: {{partitions: 4, id: AAAAAAAAAAAAAAAAAAAAAQ}}, bar: {{partitions: 1}}}}
config: {{assignors: [uniform, range], max_size: 9}}
members:
  A: {{subscribe: [foo]{more}}}
  B: {{subscribe: [foo]{more}}}
  N: {{subscribe: [foo]}}
  S: {{subscribe: [foo], instance_id: s}}
until: 200s
script:
"""

JOINS = "memberEpoch: 0, rebalanceTimeoutMs: 300000, subscribedTopicNames: [foo], topicPartitions: []"
"""A heartbeat that joins and breaks no rule."""

BEAT = "ConsumerGroupHeartbeat"
PREPARE, INSTALL = "ConsumerGroupPrepareAssignment", "ConsumerGroupInstallAssignment"
CODE = ErrorCode

Row = tuple[str, str, ErrorCode, str]
"""Sender with the API, the fields, the error, and its message."""

# fmt: off
KIP: Sequence[Row] = (
    (f"N {BEAT}", f"groupId: '', {JOINS}", CODE.INVALID_REQUEST, "GroupId must be non-empty."),
    (f"A {BEAT}", "memberId: ''", CODE.INVALID_REQUEST, "MemberId must be non-empty."),
    (
        f"A {BEAT}",
        "memberEpoch: -2",
        CODE.INVALID_REQUEST,
        "MemberEpoch must be at least -1, or -2 with an InstanceId.",
    ),
    (
        f"A {BEAT}",
        "memberEpoch: -3, instanceId: a",
        CODE.INVALID_REQUEST,
        "MemberEpoch must be at least -1, or -2 with an InstanceId.",
    ),
    (f"A {BEAT}", "instanceId: ''", CODE.INVALID_REQUEST, "InstanceId, if provided, must be non-empty."),
    (
        f"N {BEAT}",
        "memberEpoch: 0, subscribedTopicNames: [foo]",
        CODE.INVALID_REQUEST,
        "RebalanceTimeoutMs must be larger than zero in the first heartbeat request.",
    ),
    (
        f"N {BEAT}",
        "memberEpoch: 0, rebalanceTimeoutMs: 0, subscribedTopicNames: [foo]",
        CODE.INVALID_REQUEST,
        "RebalanceTimeoutMs must be larger than zero in the first heartbeat request.",
    ),
    (
        f"N {BEAT}",
        "memberEpoch: 0, rebalanceTimeoutMs: 9",
        CODE.INVALID_REQUEST,
        "SubscribedTopicNames or SubscribedTopicRegex must be given when the member epoch is 0.",
    ),
    (
        f"A {BEAT}",
        "subscribedTopicRegex: 'a('",
        CODE.INVALID_REQUEST,
        "SubscribedTopicRegex must be a valid regular expression: missing closing ).",
    ),
    (
        f"A {BEAT}",
        "serverAssignor: range, clientAssignors: [{name: x}]",
        CODE.INVALID_REQUEST,
        "Invalid assignors: a member names a server-side assignor or lists client-side ones, not both.",
    ),
    (
        f"A {BEAT}",
        "clientAssignors: [{name: ''}]",
        CODE.INVALID_REQUEST,
        "Invalid assignors: an assignor's name must not be empty.",
    ),
    (
        f"A {BEAT}",
        "clientAssignors: [{name: x, minimumVersion: -2}]",
        CODE.INVALID_REQUEST,
        "Invalid assignors: x: the minimum version -2 is below -1.",
    ),
    (
        f"A {BEAT}",
        "clientAssignors: [{name: x, minimumVersion: -1, maximumVersion: -1}]",
        CODE.INVALID_REQUEST,
        "Invalid assignors: x: the maximum version -1 is below 0.",
    ),
    (
        f"A {BEAT}",
        "clientAssignors: [{name: x, minimumVersion: 2, maximumVersion: 1}]",
        CODE.INVALID_REQUEST,
        "Invalid assignors: x: the maximum version 1 is below the minimum version 2.",
    ),
    (
        f"A {BEAT}",
        "clientAssignors: [{name: x, maximumVersion: 1, metadataVersion: 2}]",
        CODE.INVALID_REQUEST,
        "Invalid assignors: x: the metadata's version 2 is not one of 0 to 1.",
    ),
    (
        f"A {BEAT}",
        "serverAssignor: nope",
        CODE.UNSUPPORTED_ASSIGNOR,
        "ServerAssignor nope is not supported. Supported assignors: uniform, range.",
    ),
    (f"N {BEAT}", "memberEpoch: 3", CODE.UNKNOWN_MEMBER_ID, "Member N is not a member of group g."),
    *(
        (f"A {api}", fields, CODE.INVALID_REQUEST, message)
        for api in (PREPARE, INSTALL)
        for fields, message in (
            ("groupId: ''", "GroupId must be non-empty."),
            ("memberId: ''", "MemberId must be non-empty."),
            ("memberEpoch: -1", "MemberEpoch must be at least 0."),
        )
    ),
    *(
        (f"{sender} {api}", fields, code, message)
        for api in (PREPARE, INSTALL)
        for sender, fields, code, message in (
            ("N", "{}", CODE.UNKNOWN_MEMBER_ID, "Member N is not a member of group g."),
            (
                "A",
                "memberEpoch: 9",
                CODE.STALE_MEMBER_EPOCH,
                "The member epoch is 2, not 9; the next heartbeat brings it.",
            ),
            ("A", "{}", CODE.UNKNOWN_MEMBER_ID, "Member A was not chosen to compute the assignment."),
        )
    ),
)
"""Sent while A and B are members at epoch 2, and nobody computes."""

KAFKA: Sequence[Row] = (
    (f"A {BEAT}", "memberId: ' '", CODE.INVALID_REQUEST, "MemberId can't be empty."),
    (f"A {BEAT}", "groupId: ' '", CODE.INVALID_REQUEST, "GroupId can't be empty."),
    (f"A {BEAT}", "instanceId: ''", CODE.INVALID_REQUEST, "InstanceId can't be empty."),
    (f"A {BEAT}", "rackId: ''", CODE.INVALID_REQUEST, "RackId can't be empty."),
    (
        f"N {BEAT}",
        "memberEpoch: 0, subscribedTopicNames: [foo], topicPartitions: []",
        CODE.INVALID_REQUEST,
        "RebalanceTimeoutMs must be provided in first request.",
    ),
    (
        f"N {BEAT}",
        "memberEpoch: 0, rebalanceTimeoutMs: 9, subscribedTopicNames: [foo]",
        CODE.INVALID_REQUEST,
        "TopicPartitions must be empty when (re-)joining.",
    ),
    (
        f"N {BEAT}",
        "memberEpoch: 0, rebalanceTimeoutMs: 9, subscribedTopicNames: [foo], topicPartitions: [{topicId: foo, partitions: [1]}]",
        CODE.INVALID_REQUEST,
        "TopicPartitions must be empty when (re-)joining.",
    ),
    (
        f"N {BEAT}",
        "memberEpoch: 0, rebalanceTimeoutMs: 9, topicPartitions: []",
        CODE.INVALID_REQUEST,
        "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
    ),
    (f"A {BEAT}", "memberEpoch: -2", CODE.INVALID_REQUEST, "InstanceId can't be null."),
    (f"A {BEAT}", "memberEpoch: -3", CODE.INVALID_REQUEST, "MemberEpoch is invalid."),
    (
        f"A {BEAT}",
        "serverAssignor: nope",
        CODE.UNSUPPORTED_ASSIGNOR,
        "ServerAssignor nope is not supported. Supported assignors: uniform, range.",
    ),
    (f"N {BEAT}", f"{JOINS}, subscribedTopicRegex: 'a('", CODE.INVALID_REGULAR_EXPRESSION, ""),
    (f"N {BEAT}", "memberEpoch: 3", CODE.UNKNOWN_MEMBER_ID, "Member N is not a member of group g."),
    (f"A {BEAT}", "memberEpoch: 9", CODE.FENCED_MEMBER_EPOCH, ""),
    (f"N {BEAT}", f"{JOINS}, instanceId: s", CODE.UNRELEASED_INSTANCE_ID, ""),
    (f"N {BEAT}", "memberEpoch: 3, instanceId: s", CODE.FENCED_INSTANCE_ID, ""),
)
"""Sent while A, B and the static S are members."""
# fmt: on


def played(text: str) -> list[Entry]:
    return list(run(load(text)))


def answers(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """What was answered to each request of the script, in the order in which they were sent."""
    asked = [e.sequence for e in entries if e.kind is Kind.REQUEST and e.payload.get("scripted")]
    found = {
        e.payload.get("request", e.cause): dict(e.payload["body"]) for e in entries if e.kind is Kind.RESPONSE
    }
    return [found[sequence] for sequence in asked]


def violations(entries: Sequence[Entry]) -> list[str]:
    return [
        e.payload["says"] for e in entries if e.kind is Kind.FAULT and e.payload["fault"] == INVARIANT_FAULT
    ]


def sends(rows: Sequence[Row], from_ms: int) -> str:
    lines = []
    for number, (who, fields, _, _) in enumerate(rows):
        sender, api = who.split()
        given = fields if fields.startswith("{") else f"{{{fields}}}"
        lines.append(
            f"  - {{at: {from_ms + 10 * number}ms, send: {sender}, request: {api}, fields: {given}}}"
        )
    return "\n".join(lines)


@pytest.mark.parametrize(("semantics", "rows"), [("kip", KIP), ("kafka", KAFKA)])
def test_each_rule_is_broken_by_a_request_and_refuses_it_with_its_error_and_message(
    semantics: str, rows: Sequence[Row]
) -> None:
    joins = "  - {at: 0s, join: [A, B, S]}\n" if semantics == "kafka" else "  - {at: 0s, join: [A, B]}\n"
    text = GROUP.format(semantics=semantics, more="") + joins
    entries = played(text + sends(rows, 60_000))
    told = [(answer["errorCode"], answer["errorMessage"]) for answer in answers(entries)]
    assert [code for code, _ in told] == [int(code) for _, _, code, _ in rows]
    for (_, message), (_, fields, _, wanted) in zip(told, rows, strict=True):
        assert not wanted or message == wanted, fields
    assert violations(entries) == []


COMPUTING = ", assignors: [range]"

# fmt: off
WRONG: Sequence[Row] = (
    (f"A {INSTALL}", "groupEpoch: 2", CODE.INVALID_ASSIGNMENT, "The assignment is of group epoch 2; no group was handed out."),
    (f"A {PREPARE}", "{}", CODE.NONE, ""),
    (f"A {INSTALL}", "groupEpoch: 3", CODE.INVALID_ASSIGNMENT, "The assignment is of group epoch 3; the group was handed out at 2."),
    (f"A {INSTALL}", "groupEpoch: 2, members: [{memberId: A, partitions: [{topicId: foo, partitions: [0, 1]}]}]", CODE.INVALID_ASSIGNMENT, "foo-2, 3 are given to nobody."),
    (f"A {INSTALL}", "groupEpoch: 2, members: [{memberId: A, partitions: [{topicId: foo, partitions: [0, 1, 2, 3]}]}, {memberId: B, partitions: [{topicId: foo, partitions: [3]}]}]", CODE.INVALID_ASSIGNMENT, "foo-3 is given to A and B."),
    (f"A {INSTALL}", "groupEpoch: 2, members: [{memberId: A, partitions: [{topicId: foo, partitions: [0, 1, 2, 3]}]}, {memberId: Z}]", CODE.INVALID_ASSIGNMENT, "Z is no member of the group."),
    (f"A {INSTALL}", "groupEpoch: 2, members: [{memberId: A, partitions: [{topicId: foo, partitions: [0, 1, 2, 3]}], metadataVersion: 5}]", CODE.INVALID_ASSIGNMENT, "the metadata for A are of version 5; it reads -1 to 0."),
    (f"A {INSTALL}", "groupEpoch: 2, members: [{memberId: A, partitions: [{topicId: foo, partitions: [0]}]}, {memberId: B, partitions: [{topicId: foo, partitions: [1, 2, 3]}]}]", CODE.NONE, ""),
    (f"A {INSTALL}", "groupEpoch: 2", CODE.UNKNOWN_MEMBER_ID, "Member A was not chosen to compute the assignment."),
)
"""Sent once A was chosen to compute for epoch 2, and before its own client has asked for the group."""
# fmt: on


def test_each_error_of_prepare_and_install_is_provoked_and_what_is_installed_is_the_target() -> None:
    text = GROUP.format(semantics="kip", more=COMPUTING) + (
        f"  - {{at: 0s, send: A, request: {PREPARE}}}\n"
        f"  - {{at: 0s, send: A, request: {INSTALL}}}\n"
        "  - {at: 1s, join: A}\n"
        "  - {at: 12s, join: B}\n"
    )
    entries = played(text + sends(WRONG, 12_200))
    told = answers(entries)
    assert [answer["errorCode"] for answer in told[:2]] == [CODE.GROUP_ID_NOT_FOUND] * 2
    assert [(answer["errorCode"], answer["errorMessage"] or "") for answer in told[2:]] == [
        (int(code), message) for _, _, code, message in WRONG
    ]
    installed = {
        e.payload["key"]["memberId"]: e.payload["value"]["topicPartitions"]
        for e in entries
        if e.kind is Kind.RECORD and e.payload["type"] == 7 and 12_250 < e.at_ms < 12_400
    }
    assert {who: [topic["partitions"] for topic in topics] for who, topics in installed.items()} == {
        "A": [[0]],
        "B": [[1, 2, 3]],
    }


# fmt: off
CLASSIC: Sequence[Row] = (
    ("A JoinGroup", "groupId: '', sessionTimeoutMs: 45000", CODE.INVALID_GROUP_ID, ""),
    ("A JoinGroup", "sessionTimeoutMs: 10", CODE.INVALID_SESSION_TIMEOUT, ""),
    ("N JoinGroup", "memberId: '', sessionTimeoutMs: 45000, protocolType: connect, protocols: [{name: range}]", CODE.INCONSISTENT_GROUP_PROTOCOL, ""),
    ("N JoinGroup", "memberId: Z, sessionTimeoutMs: 45000, protocolType: consumer, protocols: [{name: range}]", CODE.UNKNOWN_MEMBER_ID, ""),
    ("A SyncGroup", "generationId: 7, protocolType: consumer, protocolName: range", CODE.ILLEGAL_GENERATION, ""),
    ("A SyncGroup", "protocolName: nope, protocolType: consumer", CODE.INCONSISTENT_GROUP_PROTOCOL, ""),
    ("A Heartbeat", "generationId: 7", CODE.ILLEGAL_GENERATION, ""),
    ("N Heartbeat", "{}", CODE.UNKNOWN_MEMBER_ID, ""),
    ("A Heartbeat", "groupInstanceId: nobody", CODE.UNKNOWN_MEMBER_ID, ""),
)
# fmt: on


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
def test_requests_of_the_classic_protocol_are_refused_one_by_one(semantics: str) -> None:
    text = GROUP.format(semantics=semantics, more=", protocol: classic") + "  - {at: 0s, join: [A, B]}\n"
    entries = played(text + sends(CLASSIC, 60_000))
    assert [answer["errorCode"] for answer in answers(entries)] == [int(code) for _, _, code, _ in CLASSIC]
    assert violations(entries) == []


def test_a_commit_names_unknown_topics_partitions_epochs_and_metadata_that_are_too_long() -> None:
    text = GROUP.format(semantics="kafka", more="") + "  - {at: 0s, join: A}\n"
    long = "x" * 4097
    partitions = (
        f"[{{partitionIndex: 0}}, {{partitionIndex: 9}}, {{partitionIndex: 1, committedMetadata: {long}}}]"
    )
    topics = f"topics: [{{topicId: foo, partitions: {partitions}}}, {{topicId: AAAAAAAAAAAAAAAAAAAABw, partitions: [{{partitionIndex: 0}}]}}]"
    text += f"  - {{at: 60s, send: A, request: OffsetCommit, fields: {{{topics}}}}}\n"
    text += f"  - {{at: 61s, send: A, request: OffsetCommit, fields: {{generationIdOrMemberEpoch: 7, {topics}}}}}\n"
    entries = played(text)
    codes = [
        sorted(
            (part["errorCode"] for topic in answer["topics"] for part in topic["partitions"]),
        )
        for answer in answers(entries)
    ]
    assert codes == [
        sorted(
            [
                CODE.NONE,
                CODE.UNKNOWN_TOPIC_OR_PARTITION,
                CODE.OFFSET_METADATA_TOO_LARGE,
                CODE.UNKNOWN_TOPIC_ID,
            ]
        ),
        sorted(
            [
                CODE.STALE_MEMBER_EPOCH,
                CODE.UNKNOWN_TOPIC_OR_PARTITION,
                CODE.STALE_MEMBER_EPOCH,
                CODE.UNKNOWN_TOPIC_ID,
            ]
        ),
    ]


def test_in_kip_a_topic_goes_by_its_name_or_its_id_and_by_both_is_an_invalid_request() -> None:
    part = "partitions: [{partitionIndex: 0, committedOffset: 7}]"
    asks = "partitionIndexes: [0]"
    lines = [
        f"OffsetCommit, fields: {{topics: [{{name: foo, {part}}}, {{topicId: bar, {part}}}]}}",
        f"OffsetCommit, fields: {{topics: [{{name: foo, topicId: foo, {part}}}, {{name: bar, {part}}}]}}",
        f"OffsetFetch, fields: {{groups: [{{topics: [{{name: foo, {asks}}}, {{topicId: bar, {asks}}}]}}]}}",
        f"OffsetFetch, fields: {{groups: [{{topics: [{{name: foo, topicId: foo, {asks}}}]}}]}}",
        f"OffsetFetch, fields: {{generationIdOrMemberEpoch: 9, groups: [{{topics: [{{name: foo, {asks}}}]}}]}}",
        f"OffsetFetch, fields: {{memberId: '', generationIdOrMemberEpoch: -1, groups: [{{topics: [{{name: foo, {asks}}}]}}]}}",
        f"OffsetFetch, version: 8, fields: {{groups: [{{topics: [{{name: foo, {asks}}}]}}]}}",
    ]
    text = GROUP.format(semantics="kip", more="") + "  - {at: 0s, join: A}\n"
    entries = played(
        text + "".join(f"  - {{at: {60 + n}s, send: A, request: {line}}}\n" for n, line in enumerate(lines))
    )
    taken, both, found, refused, stale, of_nobody, older = answers(entries)
    bar = load(text).topics["bar"].topic_id or next(
        e.payload["topics"]["bar"]["id"] for e in entries if e.payload.get("note") == "topics"
    )
    assert taken["topics"] == [
        {"name": "foo", "partitions": [{"partitionIndex": 0, "errorCode": 0}]},
        {"topicId": bar, "partitions": [{"partitionIndex": 0, "errorCode": 0}]},
    ]
    assert [each["partitions"][0]["errorCode"] for each in both["topics"]] == [CODE.INVALID_REQUEST] * 2
    (group,) = found["groups"]
    assert [(each.get("name"), each.get("topicId")) for each in group["topics"]] == [
        ("foo", None),
        (None, bar),
    ]
    assert [each["partitions"][0]["committedOffset"] for each in group["topics"]] == [7, 7]
    assert refused["groups"][0]["errorCode"] == CODE.INVALID_REQUEST
    assert stale["groups"][0]["errorCode"] == CODE.STALE_MEMBER_EPOCH
    for tool in (of_nobody, older):
        ((topic,), code) = tool["groups"][0]["topics"], tool["groups"][0]["errorCode"]
        assert (code, topic["partitions"][0]["committedOffset"]) == (0, 7), "a tool names no member"


UNSUPPORTED: Sequence[Row] = (
    (
        f"N {BEAT}",
        f"{JOINS}, clientAssignors: [{{name: sticky, minimumVersion: -1}}]",
        CODE.UNSUPPORTED_ASSIGNOR,
        "The group uses range, which the member does not have.",
    ),
    (
        f"N {BEAT}",
        f"{JOINS}, clientAssignors: [{{name: range, minimumVersion: 3, maximumVersion: 4, metadataVersion: 3}}]",
        CODE.UNSUPPORTED_ASSIGNOR,
        "The group uses range, and the member's versions 3 to 4 with metadata of version 3 do not suit the others'.",
    ),
    (
        f"B {BEAT}",
        "clientAssignors: [{name: roundrobin}]",
        CODE.UNSUPPORTED_ASSIGNOR,
        "The group uses range, which the member does not have.",
    ),
)


def test_assignors_and_versions_that_the_group_does_not_support_are_refused_and_leave_it_as_it_is() -> None:
    text = GROUP.format(semantics="kip", more=COMPUTING) + "  - {at: 0s, join: [A, B]}\n"
    entries = played(text + sends(UNSUPPORTED, 60_000))
    assert [(answer["errorCode"], answer["errorMessage"]) for answer in answers(entries)] == [
        (int(code), message) for _, _, code, message in UNSUPPORTED
    ]
    assert violations(entries) == []
    assert not [e for e in entries if e.kind is Kind.RECORD and e.at_ms >= 60_000]


@pytest.mark.parametrize(
    ("semantics", "brings"),
    [("kip", "assignors: [sticky]"), ("kip", "assignor: nope"), ("kafka", "assignor: nope")],
)
def test_a_member_whose_assignor_is_not_supported_is_refused_and_its_application_hears_of_it(
    semantics: str, brings: str
) -> None:
    text = GROUP.format(semantics=semantics, more=COMPUTING).replace(
        "N: {subscribe: [foo]}", f"N: {{subscribe: [foo], {brings}}}"
    )
    entries = played(text + "  - {at: 0s, join: [A, B]}\n  - {at: 30s, join: N}\n")
    codes = [e.payload["body"]["errorCode"] for e in entries if e.payload.get("to") == "N"]
    assert codes == [CODE.UNSUPPORTED_ASSIGNOR]
    thrown = [e.payload["exception"] for e in entries if e.payload.get("fault") == "poll_throws"]
    assert thrown == ["UnsupportedAssignorException"]
    assert violations(entries) == []


def test_an_assignor_that_is_nearly_a_known_one_is_taken_for_a_mistake() -> None:
    with pytest.raises(ScenarioError, match="unknown assignor unifrom; did you mean uniform\\?"):
        load(GROUP.format(semantics="kafka", more=", assignor: unifrom") + "  - {at: 0s, join: A}\n")


@pytest.mark.parametrize(
    ("semantics", "line"),
    [
        ("kip", f"send: N, request: {BEAT}, fields: {{memberId: '', {JOINS}}}"),
        ("kafka", f"send: N, request: {BEAT}, version: 0, fields: {{memberId: '', {JOINS}}}"),
        (
            "kafka",
            "send: N, request: JoinGroup, fields: {memberId: '', sessionTimeoutMs: 45000, protocolType: consumer, protocols: [{name: range}]}",
        ),
    ],
)
def test_who_joins_without_a_member_id_is_given_one_and_what_is_accepted_is_judged_no_more(
    semantics: str, line: str
) -> None:
    more = ", protocol: classic" if "JoinGroup" in line else ""
    scenario = load(
        GROUP.format(semantics=semantics, more=more) + f"  - {{at: 0s, join: A}}\n  - {{at: 60s, {line}}}\n"
    )
    simulation = Simulation(scenario, scenario.semantics, 1)
    simulation.log.checker = checker_of(scenario, scenario.semantics)
    entries = list(simulation.entries())
    assert answers(entries)[0]["memberId"] == "N"
    assert violations(entries) == []
    assert simulation.log.checker.unjudged == ACCEPTED


@pytest.mark.parametrize(
    ("semantics", "line", "field", "message"),
    [
        ("kafka", "send: A", "", "send needs request"),
        (
            "kafka",
            "send: A, request: Heartbeet",
            ".request",
            "unknown API Heartbeet; did you mean Heartbeat?",
        ),
        (
            "kafka",
            f"send: A, request: {PREPARE}",
            ".request",
            f"no release has {PREPARE}; only semantics: kip has it",
        ),
        (
            "kafka",
            f"send: A, request: {BEAT}, version: 2",
            ".version",
            f"must be 0 to 1 (the versions that {BEAT} has), is 2",
        ),
        (
            "kip",
            f"send: A, request: {BEAT}, version: 1",
            ".version",
            "must be 0 (the versions that the proposal has), is 1",
        ),
        (
            "kafka",
            f"send: A, request: {BEAT}, fields: {{clientAssignors: []}}",
            ".fields.clientAssignors",
            f"no field of {BEAT}; KIP-848 has it, in version 0",
        ),
        (
            "kip",
            "send: A, request: OffsetFetch, fields: {groups: [{memberEpoch: 2}]}",
            ".fields.groups[0].memberEpoch",
            "no field of OffsetFetch; a release has it, in version 10",
        ),
        (
            "kafka",
            "send: A, request: JoinGroup, version: 4, fields: {groupInstanceId: i}",
            ".fields.groupInstanceId",
            "no field of JoinGroup; version 9 has it",
        ),
        (
            "kafka",
            f"send: A, request: {BEAT}, fields: {{memberEpok: 1}}",
            ".fields.memberEpok",
            f"no field of {BEAT}; did you mean memberEpoch?",
        ),
        (
            "kafka",
            f"send: A, request: {BEAT}, fields: {{memberEpoch: two}}",
            ".fields.memberEpoch",
            "expected a whole number, found 'two'",
        ),
        (
            "kafka",
            f"send: A, request: {BEAT}, fields: {{memberEpoch: 2147483648}}",
            ".fields.memberEpoch",
            "must be -2147483648 to 2147483647 (an int32), is 2147483648",
        ),
        (
            "kafka",
            f"send: A, request: {BEAT}, fields: {{memberEpoch: null}}",
            ".fields.memberEpoch",
            "must not be null",
        ),
        (
            "kafka",
            f"send: A, request: {BEAT}, fields: {{groupId: other}}",
            ".fields",
            "groupId is g, or blank: a scenario has this one group",
        ),
        (
            "kafka",
            f"send: A, request: {BEAT}, fields: {{topicPartitions: [{{topicId: fo, partitions: [0]}}]}}",
            ".fields.topicPartitions[0].topicId",
            "expected a topic, or an id as Kafka writes it (22 characters); did you mean foo?",
        ),
        (
            "kafka",
            "send: A, request: JoinGroup, fields: {protocols: [{name: range, metadata: '*'}]}",
            ".fields.protocols[0].metadata",
            "expected bytes in base64, found '*'",
        ),
        (
            "kafka",
            "send: A, request: OffsetFetch, fields: {groups: [{}, {}]}",
            ".fields",
            "groups has one group: a scenario has no more",
        ),
        ("kafka", "send: Q, request: Heartbeat", ".send", "unknown member Q; there are A, B, N, S"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_its_field_and_what_would_be_right(
    semantics: str, line: str, field: str, message: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(GROUP.format(semantics=semantics, more="") + f"  - {{at: 1s, {line}}}\n")
    assert (caught.value.field, caught.value.message) == (f"script[0]{field}", message)


def test_a_moment_that_a_scripted_request_brings_about_names_the_script() -> None:
    """Who watches would look for the fault in the member's client."""
    recorder = Recorder(group="g")
    text = GROUP.format(semantics="kip", more="")
    text += (
        f"  - {{at: 0s, join: A}}\n  - {{at: 15s, send: A, request: {BEAT}, fields: {{memberEpoch: 99}}}}\n"
    )
    for entry in run(load(text)):
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    marked = [m["at_ms"] for m in orjson.loads(batch.moments) if "the scenario's script sent" in m["says"]]
    assert len(marked) == 1
    assert 15_000 <= marked[0] < 16_000
