"""OffsetCommit and TxnOffsetCommit: who may commit, and what is written.

Kafka: ``OffsetMetadataManager.commitOffset``, ``commitTransactionalOffset`` and ``ConsumerGroup.validateOffsetCommit``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from groups.history.state.classic_group import ClassicGroup
from simulations.protocol.assignors.java_orders import utf16
from simulations.protocol.coordinator.classic import commit_checks
from simulations.protocol.coordinator.classic.loading import classic_group, group_of_records
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Record
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import (
    CommitAnswer,
    CommittedOffset,
    Named,
    OffsetCommit,
    TransactionalCommit,
)

NO_RETENTION: Final = -1


def commit(context: Context, request: OffsetCommit, *, older_epochs: bool) -> Outcome[CommitAnswer]:
    """Answers each partition, first those that the broker does not have; a type 1 record for each that is accepted.

    ``older_epochs``: a commit of an older member epoch is taken for partitions that the member has had since then
    (released Kafka); otherwise every other epoch is stale, and an instance that another member holds is fenced (the
    proposal).
    """
    if any(request.named(offset) is Named.BOTH for offset in request.offsets):
        return Outcome(answer=all_refused(request, ErrorCode.INVALID_REQUEST))
    producer = _producer(request)
    codes: list[tuple[str, int, int]] = []
    offsets: list[CommittedOffset] = []
    for offset in request.offsets:
        code = _unknown(context, offset, by_id=request.named(offset) is Named.ID)
        if code:
            codes.append((request.key(offset), offset.partition, code))
        else:
            offsets.append(offset)
    if not offsets:
        return Outcome(answer=CommitAnswer(error_codes=tuple(codes), names=request.names))
    group = classic_group(context)
    if group is None and not context.group_exists and request.member_epoch < 0:
        group = group_of_records(ClassicGroup(), context.now_ms)
    if group is not None:
        refused = commit_checks.refusal(group, request)
    else:
        refused = _refusal(context, request, offsets, older_epochs=older_epochs)
    expires_ms = context.now_ms + request.retention_ms if request.retention_ms != NO_RETENTION else None
    written: list[Record] = []
    for offset in offsets:
        code = refused or _too_long(context, offset)
        codes.append((request.key(offset), offset.partition, code))
        if code is ErrorCode.NONE:
            record = records.offset_commit(request.group_id, offset, context.now_ms, expires_ms)
            written.append(record if producer is None else _in_transaction(context, record, producer))
    accepted = group is not None and refused is ErrorCode.NONE
    return Outcome(
        answer=CommitAnswer(error_codes=tuple(codes), names=request.names),
        records=tuple(written),
        timers=commit_checks.timers(group, request) if group is not None and accepted else (),
        memory=replace(context.memory, classic=group) if group is not context.memory.classic else None,
    )


def all_refused(request: OffsetCommit, code: ErrorCode) -> CommitAnswer:
    """This error for each partition."""
    return CommitAnswer(
        error_codes=tuple((request.key(offset), offset.partition, int(code)) for offset in request.offsets),
        names=request.names,
    )


def _producer(request: OffsetCommit) -> int | None:
    return request.producer_id if isinstance(request, TransactionalCommit) else None


def _in_transaction(context: Context, record: Record, producer: int) -> Record:
    """The record as it is written in a producer's transaction."""
    if not context.settings.release.rules.transactions_have_topic_ids and record["value"] is not None:
        value = {name: field for name, field in record["value"].items() if name != "topicId"}
        return {**record, "value": value, "producer": producer}
    return {**record, "producer": producer}


def _unknown(context: Context, offset: CommittedOffset, *, by_id: bool) -> ErrorCode:
    """What is found before the group is asked: a topic or a partition that the image does not have."""
    topic = context.image.by_id.get(offset.topic_id) if by_id else context.image.topics.get(offset.topic)
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    known = 0 <= offset.partition < topic.partitions
    return ErrorCode.NONE if known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _refusal(
    context: Context, request: OffsetCommit, offsets: Sequence[CommittedOffset], *, older_epochs: bool
) -> ErrorCode:
    """The error that is put on every partition, or ``NONE``."""
    if not context.group_exists:
        return _without_group(context, request)
    if request.member_epoch < 0 and not context.group.members:
        return ErrorCode.NONE
    in_transaction = isinstance(request, TransactionalCommit)
    if in_transaction and request.member_epoch < 0 and not request.member_id and request.instance_id is None:
        return ErrorCode.NONE
    member = context.group.members.get(request.member_id)
    if not older_epochs and _is_fenced(context, request):
        return ErrorCode.FENCED_INSTANCE_ID
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if not member.uses_classic and not request.knows_epochs and not in_transaction:
        return ErrorCode.UNSUPPORTED_VERSION
    by_generation = member.uses_classic or not request.knows_epochs
    stale = ErrorCode.ILLEGAL_GENERATION if by_generation else ErrorCode.STALE_MEMBER_EPOCH
    if request.member_epoch == member.epoch:
        return ErrorCode.NONE
    if request.member_epoch > member.epoch or not older_epochs:
        return stale
    for offset in offsets:
        if _too_long(context, offset):
            # Refused for itself, before anybody asks when the member got the partition.
            continue
        held = member.assigned.get(offset.topic_id, {}), member.pending_revocation.get(offset.topic_id, {})
        since = held[0].get(offset.partition, held[1].get(offset.partition))
        if since is None or request.member_epoch < since:
            return stale
    return ErrorCode.NONE


def _is_fenced(context: Context, request: OffsetCommit) -> bool:
    """Whether another member holds the instance that the request names (KIP-345, of which the proposal takes the field).

    The release goes by the member id alone, so that a replaced member is unknown and joins again under a new id.
    """
    if request.instance_id is None:
        return False
    return context.group.instances.get(request.instance_id, request.member_id) != request.member_id


def _without_group(context: Context, request: OffsetCommit) -> ErrorCode:
    """A member of a group that is not there; who is none makes a classic group of offsets alone."""
    if context.state.protocol is None or context.state.deleted:
        if request.knows_epochs and context.settings.release.rules.consumer_protocol:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return ErrorCode.ILLEGAL_GENERATION
    return ErrorCode.GROUP_ID_NOT_FOUND


def _too_long(context: Context, offset: CommittedOffset) -> ErrorCode:
    # Java counts UTF-16 units, whatever the name of the setting suggests.
    if len(utf16(offset.metadata)) // 2 > context.settings.offset_metadata_max_bytes:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    return ErrorCode.NONE
