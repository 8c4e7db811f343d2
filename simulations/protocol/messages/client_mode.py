"""The two requests with which a client-side assignor's work travels; KIP-848 has them, no release does.

Source: KIP-848, "ConsumerGroupPrepareAssignment API", "ConsumerGroupInstallAssignment API". The bytes of both are in
``groups.wire.kip``; ``body`` is what its codecs take.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Final

from groups.history.payloads.consumer import (
    ErrorBody,
    InstallAssignmentBody,
    MetadataFields,
    PrepareAnswerBody,
    PrepareAssignmentBody,
)
from groups.history.payloads.records import ClientAssignorRow
from groups.history.state.consumer import AssignorNote
from simulations.protocol.assignors.client_side import ClientAnswer, ClientGroup, Metadata, Offer
from simulations.protocol.messages.groups import topic_partitions

PREPARE_API: Final = "ConsumerGroupPrepareAssignment"
INSTALL_API: Final = "ConsumerGroupInstallAssignment"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareAssignment:
    """Asks for the group as it is now; only the member that was picked to compute is answered."""

    group_id: str
    member_id: str
    member_epoch: int
    version: int = 0

    def body(self) -> PrepareAssignmentBody:
        return {"groupId": self.group_id, "memberId": self.member_id, "memberEpoch": self.member_epoch}


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareAnswer:
    """``group`` is ``None`` next to an error."""

    error_code: int = 0
    error_message: str | None = None
    assignor: str = ""
    group: ClientGroup | None = None

    def body(self) -> PrepareAnswerBody:
        group = self.group or ClientGroup(members={}, topics={})
        return {
            "errorCode": int(self.error_code),
            "errorMessage": self.error_message,
            "groupEpoch": group.epoch,
            "assignorName": self.assignor,
            "members": [
                {
                    "memberId": member_id,
                    "memberEpoch": member.epoch,
                    "instanceId": member.instance_id,
                    "rackId": member.rack_id,
                    "subscribedTopicIds": list(member.topics),
                    "assignor": {"reason": member.reason, **metadata_fields(member.metadata)},
                    "topicPartitions": topic_partitions(
                        {topic_id: tuple(numbers) for topic_id, numbers in member.target.items()}
                    ),
                }
                for member_id, member in group.members.items()
            ],
            "topics": [
                {"topicId": topic_id, "topicName": topic.name, "numPartitions": topic.partitions}
                for topic_id, topic in group.topics.items()
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallAssignment:
    """Brings an assignor's answer for the group as it was at ``group_epoch``."""

    group_id: str
    member_id: str
    member_epoch: int
    group_epoch: int
    answer: ClientAnswer
    version: int = 0

    def body(self) -> InstallAssignmentBody:
        return {
            "groupId": self.group_id,
            "memberId": self.member_id,
            "memberEpoch": self.member_epoch,
            "groupEpoch": self.group_epoch,
            "error": self.answer.error,
            "members": [
                {
                    "memberId": member_id,
                    "partitions": topic_partitions(
                        {topic_id: tuple(numbers) for topic_id, numbers in known.partitions.items()}
                    ),
                    **metadata_fields(known.metadata),
                }
                for member_id, known in self.answer.members.items()
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallAnswer:
    error_code: int = 0
    error_message: str | None = None

    def body(self) -> ErrorBody:
        return {"errorCode": int(self.error_code), "errorMessage": self.error_message}


def metadata_fields(metadata: Metadata) -> MetadataFields:
    """As the proposal's schemas and records write an assignor's metadata; bytes in base64."""
    return {"metadataVersion": metadata.version, "metadataBytes": b64encode(metadata.data).decode()}


def offer_row(offer: Offer) -> ClientAssignorRow:
    """An assignor as the proposal's type 5 record keeps it."""
    return {
        "name": offer.name,
        "minimumVersion": offer.minimum_version,
        "maximumVersion": offer.maximum_version,
        "reason": offer.reason,
        "version": offer.metadata.version,
        "metadata": b64encode(offer.metadata.data).decode(),
    }


def offer_of(row: ClientAssignorRow) -> Offer:
    """The other way."""
    return Offer(
        name=row["name"],
        minimum_version=row["minimumVersion"],
        maximum_version=row["maximumVersion"],
        reason=row["reason"],
        metadata=Metadata(row["version"], b64decode(row["metadata"])),
    )


def note_of(metadata: Metadata, error: int) -> AssignorNote:
    """What a member is sent in addition to its partitions."""
    return AssignorNote(error=error, version=metadata.version, data=b64encode(metadata.data).decode())


def metadata_of(note: AssignorNote) -> Metadata:
    return Metadata(note.version, b64decode(note.data))
