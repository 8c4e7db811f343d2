"""Records of share groups and of streams groups typed by hand, named by what they say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.history.logs import FOO, record, topic_partitions

Tasks = Mapping[str, Iterable[int]]


class _Records:
    """What both protocols write alike; ``numbers`` are the types of epoch, target epoch, target, current, member."""

    numbers: tuple[int, int, int, int, int]

    def __init__(self, group: str = "orders") -> None:
        self.group = group

    def epoch(self, epoch: int, **fields: Any) -> dict[str, Any]:
        return record(self.numbers[0], self.key(), {"epoch": epoch, "metadataHash": 7, **fields})

    def target_epoch(self, epoch: int) -> dict[str, Any]:
        return record(self.numbers[1], self.key(), {"assignmentEpoch": epoch, "assignmentTimestamp": 1})

    def leave(self, member: str, epoch: int) -> tuple[dict[str, Any], ...]:
        """The four records of a leave."""
        _, _, target, current, metadata = self.numbers
        gone = (record(number, self.key(member), None) for number in (current, target, metadata))
        return (*gone, self.epoch(epoch))

    def key(self, member: str | None = None) -> dict[str, Any]:
        return {"groupId": self.group} | ({} if member is None else {"memberId": member})


class ShareRecords(_Records):
    numbers = (11, 12, 13, 14, 10)

    def member(self, member: str, *names: str) -> dict[str, Any]:
        value = {
            "rackId": "east",
            "clientId": member.lower(),
            "clientHost": "/127.0.0.1",
            "subscribedTopicNames": list(names or ("foo",)),
        }
        return record(10, self.key(member), value)

    def target(self, member: str, *partitions: int) -> dict[str, Any]:
        return record(13, self.key(member), {"topicPartitions": topic_partitions({FOO: partitions})})

    def current(self, member: str, epoch: int, previous: int, *partitions: int) -> dict[str, Any]:
        value = {
            "memberEpoch": epoch,
            "previousMemberEpoch": previous,
            "state": 0,
            "assignedPartitions": topic_partitions({FOO: partitions}) if partitions else [],
        }
        return record(14, self.key(member), value)

    def share_state(
        self, initializing: Iterable[int] = (), initialized: Iterable[int] = (), *, deleting: bool = False
    ) -> dict[str, Any]:
        def topics(partitions: Iterable[int]) -> list[dict[str, Any]]:
            some = list(partitions)
            return [{"topicId": FOO, "topicName": "foo", "partitions": some}] if some else []

        value = {
            "initializingTopics": topics(initializing),
            "initializedTopics": topics(initialized),
            "deletingTopics": [{"topicId": FOO, "topicName": "foo"}] if deleting else [],
        }
        return record(15, self.key(), value)

    def deletion(self) -> tuple[dict[str, Any], ...]:
        return tuple(record(number, self.key(), None) for number in (12, 15, 11))


class StreamsRecords(_Records):
    numbers = (17, 20, 21, 22, 19)

    def epoch(self, epoch: int, validated: int = 0, **fields: Any) -> dict[str, Any]:
        return super().epoch(epoch, validatedTopologyEpoch=validated, **fields)

    def member(self, member: str, **fields: Any) -> dict[str, Any]:
        value = {
            "instanceId": None,
            "rackId": None,
            "clientId": member.lower(),
            "clientHost": "/127.0.0.1",
            "rebalanceTimeoutMs": 60_000,
            "topologyEpoch": 0,
            "processId": f"process-{member}",
            "userEndpoint": {"host": "localhost", "port": 60_000},
            "clientTags": [{"key": "zone", "value": "east"}],
        }
        return record(19, self.key(member), value | fields)

    def topology(self, epoch: int = 0, **sources: str) -> dict[str, Any]:
        """Subtopologies ``s0``, ``s1`` … as 0, 1 …, each with one source topic."""
        subtopologies = [
            {
                "subtopologyId": name.removeprefix("s"),
                "sourceTopics": [topic],
                "sourceTopicRegex": [],
                "stateChangelogTopics": [
                    {
                        "name": f"{topic}-changelog",
                        "partitions": 0,
                        "replicationFactor": 1,
                        "topicConfigs": [],
                    }
                ],
                "repartitionSinkTopics": [],
                "repartitionSourceTopics": [],
                "copartitionGroups": [],
            }
            for name, topic in (sources or {"s0": "foo"}).items()
        ]
        return record(23, self.key(), {"epoch": epoch, "subtopologies": subtopologies})

    def target(
        self, member: str, active: Tasks, standby: Tasks | None = None, warmup: Tasks | None = None
    ) -> dict[str, Any]:
        value = {
            "activeTasks": _tasks(active),
            "standbyTasks": _tasks(standby or {}),
            "warmupTasks": _tasks(warmup or {}),
        }
        return record(21, self.key(member), value)

    def current(
        self,
        member: str,
        epoch: int,
        previous: int,
        state: int,
        active: Tasks,
        *,
        standby: Tasks | None = None,
        warmup: Tasks | None = None,
        pending: Tasks | None = None,
        standby_pending: Tasks | None = None,
    ) -> dict[str, Any]:
        value = {
            "memberEpoch": epoch,
            "previousMemberEpoch": previous,
            "state": state,
            "activeTasks": _tasks(active),
            "standbyTasks": _tasks(standby or {}),
            "warmupTasks": _tasks(warmup or {}),
            "activeTasksPendingRevocation": _tasks(pending or {}),
            "standbyTasksPendingRevocation": _tasks(standby_pending or {}),
            "warmupTasksPendingRevocation": [],
        }
        return record(22, self.key(member), value)

    def deletion(self) -> tuple[dict[str, Any], ...]:
        return tuple(record(number, self.key(), None) for number in (20, 17, 23))


def _tasks(tasks: Tasks) -> list[dict[str, Any]]:
    return [{"subtopologyId": name, "partitions": list(numbers)} for name, numbers in tasks.items()]
