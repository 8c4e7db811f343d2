"""A producer that commits a group's offsets in transactions, by requests with chosen versions, members and epochs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from .acting import Group

TRANSACTION_COORDINATOR = 1
IMPLICIT_VERSION = 5
"""From this version of TxnOffsetCommit on the broker itself adds the group to the transaction (KIP-890)."""

LIMIT_S = 120
PAUSE_S = 0.1
RETRIABLE = frozenset({14, 15, 16, 51})
"""The coordinator of transactions is not ready, or still ends the one before."""


class Transactions:
    """One transactional id; ``version`` is that of its TxnOffsetCommit requests, the broker's newest if none is given."""

    def __init__(self, group: Group, name: str, *, version: int | None = None) -> None:
        self.group = group
        self.id = f"{group.name}-{name}"
        self.version = newest_version(group) if version is None else version
        self.producer = {"producerId": -1, "producerEpoch": -1}
        answer = self._until_ready(
            "InitProducerId", {"transactionalId": self.id, "transactionTimeoutMs": 900_000, **self.producer}
        )
        self._is(answer)

    def commit(
        self,
        member: str,
        epoch: int | None,
        topic: str,
        offsets: Mapping[int, int],
        *,
        codes: Sequence[int] | None = None,
        metadata: str | None = "",
        topic_id: str | None = None,
        version: int | None = None,
    ) -> None:
        """TxnOffsetCommit; topics by their short names."""
        version, group = self.version if version is None else version, self.group
        if version < IMPLICIT_VERSION:
            body = {"transactionalId": self.id, **self.producer, "groupId": group.name}
            assert self._until_ready("AddOffsetsToTxn", body)["errorCode"] == 0
        named = {"topicId": topic_id or group.ids[topic]} if version >= 6 else {"name": group.full(topic)}
        partitions = [
            {
                "partitionIndex": number,
                "committedOffset": offset,
                "committedLeaderEpoch": -1,
                "committedMetadata": metadata,
            }
            for number, offset in offsets.items()
        ]
        body = {
            "transactionalId": self.id,
            "groupId": group.name,
            **self.producer,
            "generationIdOrMemberEpoch": group.epochs.get(member, -1) if epoch is None else epoch,
            "memberId": member,
            "groupInstanceId": None,
            "topics": [{**named, "partitions": partitions}],
        }
        deadline = time.monotonic() + LIMIT_S
        while True:
            answer = group.connection("producer").ask("TxnOffsetCommit", version, body)
            told = [each["errorCode"] for each in answer["topics"][0]["partitions"]]
            if RETRIABLE.isdisjoint(told) or time.monotonic() > deadline:
                break
            time.sleep(PAUSE_S)
        assert told == list(codes if codes is not None else [0] * len(offsets)), (group.name, body, answer)

    def end(self, *, committed: bool) -> None:
        """EndTxn; the markers are in the log when a fetch of stable offsets is answered, or a little later."""
        version = 5 if self.version >= IMPLICIT_VERSION else 4
        answer = self._until_ready(
            "EndTxn", {"transactionalId": self.id, **self.producer, "committed": committed}, version
        )
        assert answer["errorCode"] == 0, (self.group.name, answer)
        if version == 5:
            self._is(answer)

    def _is(self, answer: Mapping[str, int]) -> None:
        assert answer["errorCode"] == 0, (self.group.name, answer)
        self.producer = {name: answer[name] for name in self.producer}

    def _until_ready(
        self, api: str, body: Mapping[str, object], version: int | None = None
    ) -> dict[str, int]:
        connection = self.group.connection("producer")
        deadline = time.monotonic() + LIMIT_S
        while True:
            asked = {"keyType": TRANSACTION_COORDINATOR, "coordinatorKeys": [self.id]}
            (coordinator,) = connection.call("FindCoordinator", asked)["coordinators"]
            if coordinator["errorCode"] == 0:
                answer: dict[str, int] = connection.call(api, dict(body), version=version)
                if answer["errorCode"] not in RETRIABLE:
                    return answer
            assert time.monotonic() < deadline, f"{self.id}: {api} was not answered in {LIMIT_S} s"
            time.sleep(PAUSE_S)


def newest_version(group: Group) -> int:
    """Of TxnOffsetCommit, as the group's broker offers it."""
    return 6 if group.node.follows("transactions_have_topic_ids") else 5


def until_stable(group: Group, topic: str, partitions: Sequence[int]) -> None:
    """Waits until no transaction holds these partitions any more."""
    deadline = time.monotonic() + LIMIT_S
    while True:
        told = group.fetch(None, -1, {topic: partitions}, stable=True)
        if all(each["errorCode"] == 0 for each in told["topics"][0]["partitions"]):
            return
        assert time.monotonic() < deadline, f"{group.name}: offsets are held after {LIMIT_S} s"
        time.sleep(PAUSE_S)
