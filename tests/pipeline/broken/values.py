"""Records that decode and say what no coordinator would: a log from the world may, and the board must stand it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from groups.wire.logs.control import ControlType
from tests.pipeline.broken.case import Case, Place, batch, changed, three
from tests.pipeline.segments import BAR, FOO, Group, Payload, Segment, record

ALL: Final = ("before", "hit", "after")
INT32_MAX: Final = (1 << 31) - 1
INT32_MIN: Final = -(1 << 31)
INT64_MAX: Final = (1 << 63) - 1
PARTITIONS_MOST: Final = 100_000


def cases() -> Iterator[Case]:
    yield from absurd()
    yield from contradictions()
    yield from transactions()


def told(name: str, payloads: Callable[[Group], list[Payload]]) -> Case:
    """The group ``hit`` joins in order, then ``payloads`` come, a batch each; nothing is skipped."""

    def make(place: Place) -> None:
        group = place.group("hit")
        rows = [*group.join("A", {FOO: [0]}), *payloads(group)]
        before = three(place)[0]
        middle = b"".join(batch(5 + index, row) for index, row in enumerate(rows))
        moved = batch(5 + len(rows), *place.group("after").join("A", {FOO: [0]}))
        place.put(before + middle + moved)

    return Case(name=name, make=make, reason=None, keeps=ALL)


def absurd() -> Iterator[Case]:
    for what, epoch in {
        "greatest": INT32_MAX, "least": INT32_MIN, "minus-one": -1, "zero": 0, "the-same-again": 2,
    }.items():  # fmt: skip
        yield told(
            f"group-epoch-{what}", lambda group, epoch=epoch: [record(3, group.key(), {"epoch": epoch})]
        )
        yield told(
            f"assignment-epoch-{what}",
            lambda group, epoch=epoch: [record(6, group.key(), {"assignmentEpoch": epoch})],
        )
        yield told(
            f"member-epoch-{what}",
            lambda group, epoch=epoch: [current(group, memberEpoch=epoch, previousMemberEpoch=epoch)],
        )
    for what, partitions in {
        "negative": [-1, -2, INT32_MIN],
        "greatest": [INT32_MAX],
        "twice-the-same": [0, 0, 0, 1, 1],
        f"{PARTITIONS_MOST}": list(range(PARTITIONS_MOST)),
        "none": [],
    }.items():
        rows = [{"topicId": FOO, "partitions": partitions}]
        yield told(
            f"target-partitions-{what}",
            lambda group, rows=rows: [record(7, group.key(memberId="A"), {"topicPartitions": rows})],
        )
        yield told(
            f"assigned-partitions-{what}", lambda group, rows=rows: [current(group, assignedPartitions=rows)]
        )
        yield told(
            f"revoked-partitions-{what}",
            lambda group, rows=rows: [current(group, partitionsPendingRevocation=rows, state=1)],
        )
    yield told("member-state-nobody-knows", lambda group: [current(group, state=99)])
    yield told("member-state-127", lambda group: [current(group, state=127)])
    yield told(
        "assignment-epochs-of-another-length",
        lambda group: [
            current(
                group, assignedPartitions=[{"topicId": FOO, "partitions": [0, 1], "assignmentEpochs": [1]}]
            )
        ],
    )
    yield told(
        "one-topic-twice-in-an-assignment",
        lambda group: [
            current(group, assignedPartitions=[{"topicId": FOO, "partitions": [at]} for at in (0, 1)])
        ],
    )
    yield told(
        "topic-id-zero",
        lambda group: [current(group, assignedPartitions=[{"topicId": "A" * 22, "partitions": [0]}])],
    )
    yield told("rebalance-timeout-least", lambda group: [member(group, rebalanceTimeoutMs=INT32_MIN)])
    yield told(
        "ten-thousand-subscribed-topics",
        lambda group: [member(group, subscribedTopicNames=[f"t{at}" for at in range(10_000)])],
    )
    yield told(
        "expression-that-does-not-compile", lambda group: [member(group, subscribedTopicRegex="(((((a+)+)+")]
    )
    for what, fields in {
        "offset-minus-one": {"offset": -1},
        "offset-greatest": {"offset": INT64_MAX},
        "time-least": {"commitTimestamp": -(1 << 63)},
        "time-greatest": {"commitTimestamp": INT64_MAX},
        "metadata-of-30-kilobytes": {"metadata": "m" * 30_000},
    }.items():
        yield told(f"commit-with-{what}", lambda group, fields=fields: [commit(group, 0, **fields)])
    yield told("commit-of-a-negative-partition", lambda group: [commit(group, -5)])
    yield told(
        "commits-that-run-back",
        lambda group: [commit(group, 0, offset=offset) for offset in (900, 500, 100, 0)],
    )
    yield told("classic-generation-greatest", lambda group: classic(group, generation=INT32_MAX))
    yield told("classic-generation-least", lambda group: classic(group, generation=INT32_MIN))
    yield told("classic-leader-who-is-no-member", lambda group: classic(group, leader="nobody"))
    yield told(
        "partition-metadata-with-a-negative-count",
        lambda group: [
            record(
                4,
                group.key(),
                {
                    "topics": [
                        {"topicId": FOO, "topicName": "foo", "numPartitions": -3, "partitionMetadata": []}
                    ]
                },
            )
        ],
    )


def current(group: Group, **fields: Any) -> Payload:
    value = changed(group.current([{"topicId": FOO, "partitions": [0]}]), **fields)
    return record(8, group.key(memberId="A"), value)


def member(group: Group, **fields: Any) -> Payload:
    return record(5, group.key(memberId="A"), changed(group.member("A"), **fields))


def commit(group: Group, partition: int, **fields: Any) -> Payload:
    (payload,) = group.commit(partition=partition)
    payload["value"] |= fields
    return payload


def classic(group: Group, **fields: Any) -> list[Payload]:
    (payload,) = group.classic(3, ["A"])
    payload["value"] |= fields
    return [payload]


def contradictions() -> Iterator[Case]:
    yield told("a-member-removed-that-never-was", lambda group: tombstones(group, "ghost", 8, 7, 5))
    yield told("a-member-removed-twice", lambda group: tombstones(group, "A", 8, 7, 5, 8, 7, 5))
    yield told("a-member-removed-before-its-assignment", lambda group: tombstones(group, "A", 5))
    yield told("a-group-deleted-with-its-members", lambda group: [record(3, group.key(), None)])
    yield told(
        "a-group-deleted-three-times", lambda group: [*group.delete(), *group.delete(), *group.delete()]
    )
    yield told("the-target-epoch-deleted-first", lambda group: [record(6, group.key(), None)])
    yield told(
        "two-owners-of-one-partition-at-one-epoch",
        lambda group: [*group.join("B", {FOO: [0]}), *group.advance("A", {FOO: [0]})],
    )
    yield told("a-classic-record-amid-a-consumer-group", lambda group: group.classic(7, ["A"]))
    yield told(
        "a-consumer-record-amid-a-classic-group",
        lambda group: [*group.delete(), *group.classic(7, ["A"]), *group.join("B", {BAR: [0]})],
    )
    yield told(
        "a-share-epoch-amid-a-consumer-group",
        lambda group: [record(11, group.key(), {"epoch": 5, "metadataHash": 0})],
    )
    yield told(
        "a-streams-epoch-amid-a-consumer-group",
        lambda group: [
            record(17, group.key(), {"epoch": 5, "metadataHash": 0, "validatedTopologyEpoch": -1})
        ],
    )
    yield told(
        "an-assignment-of-a-member-without-metadata",
        lambda group: [
            record(8, group.key(memberId="late"), group.current([{"topicId": FOO, "partitions": [1]}]))
        ],
    )
    yield told(
        "a-target-of-a-member-that-never-comes",
        lambda group: [record(7, group.key(memberId="never"), {"topicPartitions": []})],
    )
    yield told(
        "a-group-epoch-that-jumps-and-runs-back",
        lambda group: [record(3, group.key(), {"epoch": epoch}) for epoch in (900, 3, 901, 4)],
    )


def tombstones(group: Group, member_id: str, *types: int) -> list[Payload]:
    return [record(number, group.key(memberId=member_id), None) for number in types]


def transactions() -> Iterator[Case]:
    """Offsets in transactions whose ends are missing, doubled or somebody else's."""
    open_end = "transaction|abort|committed"

    def case(name: str, make: Callable[[Place], Segment], reason: str | None) -> Case:
        return Case(name=name, make=lambda place: place.put(make(place).bytes()), reason=reason)

    def begun(place: Place) -> Segment:
        return Segment().add(place.group("before").join("A", {FOO: [0]}))

    yield case(
        "a-transaction-without-an-end",
        lambda place: begun(place).transaction(7, place.group("hit").commit()),
        open_end,
    )
    yield case(
        "an-end-without-a-transaction",
        lambda place: begun(place).marker(7, ControlType.COMMIT).marker(8, ControlType.ABORT),
        None,
    )
    yield case(
        "a-transaction-that-is-aborted-twice",
        lambda place: (
            begun(place)
            .transaction(7, place.group("hit").commit())
            .marker(7, ControlType.ABORT)
            .marker(7, ControlType.ABORT)
        ),
        open_end,
    )
    yield case(
        "a-transaction-committed-and-then-aborted",
        lambda place: (
            begun(place)
            .transaction(7, place.group("hit").commit())
            .marker(7, ControlType.COMMIT)
            .marker(7, ControlType.ABORT)
        ),
        None,
    )
    yield case(
        "the-end-of-another-producer",
        lambda place: begun(place).transaction(7, place.group("hit").commit()).marker(8, ControlType.COMMIT),
        open_end,
    )
    yield case(
        "two-hundred-open-transactions",
        many_open,
        open_end,
    )
    yield case(
        "member-records-in-a-transaction-that-is-aborted",
        lambda place: (
            begun(place).transaction(7, place.group("hit").join("B", {FOO: [1]})).marker(7, ControlType.ABORT)
        ),
        open_end,
    )


def many_open(place: Place) -> Segment:
    made = Segment().add(place.group("before").join("A", {FOO: [0]}))
    for producer in range(200):
        made.transaction(producer, place.group("hit").commit(offset=producer))
    return made
