"""Random logs: some that a coordinator could have written, and some that nobody could."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from groups.history.entries import Entry, Kind, Provenance
from tests.history.logs import FOO, record

BAR = "ICAgICAgICAgICAgICAgIA"

MEMBERS = st.sampled_from(["A", "B", "C", "kPMDEqDHQNiLqjiFU6TzLg"])
EPOCHS = st.integers(-2, 9)
TOPICS = st.dictionaries(
    st.sampled_from([FOO, BAR]), st.lists(st.integers(0, 3), max_size=3, unique=True), max_size=2
).map(lambda topics: [{"topicId": topic, "partitions": numbers} for topic, numbers in topics.items()])

JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


def _group(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"groupId": st.just("orders"), **fields})


def _value(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any] | None]:
    return st.none() | st.fixed_dictionaries(fields)


TASKS = st.dictionaries(
    st.sampled_from(["0", "1"]), st.lists(st.integers(0, 3), max_size=3, unique=True), max_size=2
).map(lambda tasks: [{"subtopologyId": name, "partitions": numbers} for name, numbers in tasks.items()])

_MEMBER_KEY = _group(memberId=MEMBERS)
_NAMES = st.lists(st.sampled_from(["foo", "bar"]), max_size=2, unique=True)

_STATES = TOPICS.map(lambda topics: [{**topic, "topicName": "foo"} for topic in topics])

RECORDS = st.one_of(
    st.builds(record, st.just(3), _group(), _value(epoch=EPOCHS, metadataHash=st.integers(0, 3))),
    st.builds(record, st.just(4), _group(), _value(topics=TOPICS.map(
        lambda topics: [{"topicId": t["topicId"], "topicName": "foo", "numPartitions": len(t["partitions"])} for t in topics]
    ))),
    st.builds(record, st.just(5), _MEMBER_KEY, _value(
        instanceId=st.none() | st.sampled_from(["i", "j"]), rackId=st.none(), clientId=st.text(max_size=3),
        clientHost=st.just("/h"), subscribedTopicNames=_NAMES, subscribedTopicRegex=st.sampled_from([None, "", "f.*"]),
        rebalanceTimeoutMs=st.just(1), serverAssignor=st.none(),
    )),
    st.builds(record, st.just(6), _group(), _value(assignmentEpoch=EPOCHS, assignmentTimestamp=st.integers(0, 9))),
    st.builds(record, st.just(7), _MEMBER_KEY, _value(topicPartitions=TOPICS)),
    st.builds(record, st.just(8), _MEMBER_KEY, _value(
        memberEpoch=EPOCHS, previousMemberEpoch=EPOCHS, state=st.sampled_from([0, 1, 2, 7]),
        assignedPartitions=TOPICS, partitionsPendingRevocation=TOPICS,
    )),
    st.builds(record, st.just(16), _group(regularExpression=st.just("f.*")), _value(
        topics=_NAMES, version=st.integers(0, 3), timestamp=st.integers(0, 3),
    )),
    st.builds(record, st.just(1), st.fixed_dictionaries({
        "group": st.just("orders"), "topic": st.sampled_from(["foo", "bar"]), "partition": st.integers(0, 3),
    }), _value(offset=st.integers(0, 9), leaderEpoch=st.just(-1), metadata=st.just(""),
               commitTimestamp=st.just(0), topicId=st.sampled_from([FOO, BAR, "AAAAAAAAAAAAAAAAAAAAAA"]))),
    st.builds(record, st.just(2), st.fixed_dictionaries({"group": st.just("orders")}), _value(
        protocolType=st.sampled_from(["consumer", "connect", ""]), generation=EPOCHS, protocol=st.none(),
        leader=st.none(), currentStateTimestamp=st.just(0), members=st.lists(st.fixed_dictionaries({
            "memberId": MEMBERS, "groupInstanceId": st.none(), "clientId": st.just("c"), "clientHost": st.just("/h"),
            "rebalanceTimeout": st.just(1), "sessionTimeout": st.just(1),
            "subscription": st.sampled_from(["", "AAAAAAAA", "AAAAAAABAANmb28AAAAA", "!"]),
            "assignment": st.sampled_from(["", "AAAAAAABAANmb28AAAACAAAAAAAAAAH/////", "AAA="]),
        }), max_size=3),
    )),
    st.builds(record, st.sampled_from([11, 17]), _group(), _value(
        epoch=EPOCHS, metadataHash=st.integers(0, 3), validatedTopologyEpoch=st.integers(-1, 1),
    )),
    st.builds(record, st.sampled_from([10, 19]), _MEMBER_KEY, _value(
        rackId=st.none(), clientId=st.text(max_size=3), clientHost=st.just("/h"), subscribedTopicNames=_NAMES,
        topologyEpoch=st.integers(-1, 1), processId=st.sampled_from(["p", "q"]),
        userEndpoint=st.none() | st.just({"host": "h", "port": 1}), clientTags=st.just([]),
    )),
    st.builds(record, st.sampled_from([12, 20]), _group(), _value(
        assignmentEpoch=EPOCHS, assignmentTimestamp=st.integers(0, 9),
    )),
    st.builds(record, st.just(13), _MEMBER_KEY, _value(topicPartitions=TOPICS)),
    st.builds(record, st.just(14), _MEMBER_KEY, _value(
        memberEpoch=EPOCHS, previousMemberEpoch=EPOCHS, state=st.sampled_from([0, 0, 7]), assignedPartitions=TOPICS,
    )),
    st.builds(record, st.just(15), _group(), _value(
        initializingTopics=_STATES, initializedTopics=_STATES, deletingTopics=_STATES,
    )),
    st.builds(record, st.just(21), _MEMBER_KEY, _value(activeTasks=TASKS, standbyTasks=TASKS, warmupTasks=TASKS)),
    st.builds(record, st.just(22), _MEMBER_KEY, _value(
        memberEpoch=EPOCHS, previousMemberEpoch=EPOCHS, state=st.sampled_from([1, 2, 3, 7]), activeTasks=TASKS,
        standbyTasks=TASKS, warmupTasks=TASKS, activeTasksPendingRevocation=TASKS,
        standbyTasksPendingRevocation=TASKS, warmupTasksPendingRevocation=TASKS,
    )),
    st.builds(record, st.just(23), _group(), _value(epoch=st.integers(-1, 1), subtopologies=st.sampled_from([
        [], [{"subtopologyId": "0", "sourceTopics": ["foo"]}, {"subtopologyId": "1"}],
    ]))),
    st.fixed_dictionaries({"type": st.integers(-1, 40), "key": JUNK, "value": JUNK}),
    st.fixed_dictionaries({"type": st.just(31), "key_bytes": st.just("AB8="), "value_bytes": st.none()}),
)  # fmt: skip

NAMED = st.dictionaries(st.sampled_from(["foo", "bar"]), st.lists(st.integers(0, 3), max_size=2), max_size=2)

OTHERS = st.one_of(
    st.tuples(st.just(Kind.REQUEST), st.fixed_dictionaries({
        "api": st.sampled_from(["ConsumerGroupHeartbeat", "JoinGroup", "SyncGroup", "LeaveGroup"]),
        "body": st.fixed_dictionaries({"memberEpoch": EPOCHS, "topicPartitions": st.none() | TOPICS}),
        "steady": st.booleans(),
    })),
    st.tuples(st.just(Kind.RESPONSE), st.fixed_dictionaries({
        "api": st.sampled_from(["ConsumerGroupHeartbeat", "JoinGroup", "SyncGroup"]), "to": MEMBERS,
        "body": st.fixed_dictionaries({
            "errorCode": st.sampled_from([0, 0, 25]),
            "assignment": st.none() | st.fixed_dictionaries({"topicPartitions": TOPICS}),
        }),
    })),
    st.tuples(st.just(Kind.CALLBACK), st.fixed_dictionaries({
        "callback": st.sampled_from(["on_partitions_revoked", "on_partitions_assigned", "on_partitions_lost"]),
        "phase": st.sampled_from(["start", "end"]), "partitions": NAMED,
    })),
    st.tuples(st.just(Kind.TIMER), st.fixed_dictionaries({
        "timer": st.sampled_from(["session", "rebalance", "assignment"]), "member": st.none() | MEMBERS,
        "event": st.sampled_from(["started", "cancelled", "fired"]), "deadline_ms": st.integers(0, 99),
    })),
    st.tuples(st.just(Kind.FAULT), st.fixed_dictionaries({
        "fault": st.sampled_from(["kill", "fail_over", "lost_batch", "cut"]), "member": st.none() | MEMBERS,
    })),
    st.tuples(st.just(Kind.NOTE), st.one_of(
        st.fixed_dictionaries({"note": st.just("step"), "step": st.integers(1, 9), "says": st.text(max_size=5)}),
        st.fixed_dictionaries({"note": st.just("gap"), "partition": st.just(0), "from_offset": st.just(1),
                               "to_offset": st.just(2), "reason": st.just("compacted")}),
        st.fixed_dictionaries({"note": st.just("topics"), "topics": st.dictionaries(
            st.sampled_from(["foo", "bar"]), st.none() | st.fixed_dictionaries({
                "id": st.sampled_from([FOO, BAR]), "partitions": st.none() | st.integers(1, 4)}), max_size=2)}),
    )),
    st.tuples(st.sampled_from(list(Kind)), st.dictionaries(st.text(max_size=6), JUNK, max_size=3)),
)  # fmt: skip


@st.composite
def logs(draw: st.DrawFn) -> list[Entry]:
    """Up to thirty units and other entries; records may stand alone or several to a unit."""
    entries: list[Entry] = []

    def add(kind: Kind, payload: dict[str, Any], **fields: Any) -> None:
        sequence = len(entries) + 1
        actor = draw(MEMBERS) if kind in (Kind.REQUEST, Kind.CALLBACK) else "coordinator"
        at_ms = draw(st.integers(0, 50)) + sequence * 20
        cause = draw(st.none() | st.integers(1, sequence - 1)) if sequence > 1 else None
        entries.append(
            Entry(
                sequence=sequence,
                at_ms=at_ms,
                kind=kind,
                actor=actor,
                provenance=Provenance.SIMULATED,
                payload=payload,
                cause=cause,
                **fields,
            )
        )

    for _ in range(draw(st.integers(0, 30))):
        if draw(st.booleans()):
            unit = draw(st.lists(RECORDS, min_size=1, max_size=5))
            first = len(entries) + 1
            for index, payload in enumerate(unit):
                add(
                    Kind.RECORD,
                    payload,
                    settled=index == len(unit) - 1,
                    unit=first,
                    partition=0,
                    offset=first + index,
                    batch=first,
                )
        else:
            add(*draw(OTHERS))
    return entries
