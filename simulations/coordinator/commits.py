"""OffsetCommit of a consumer group: who may commit, and what is written.

Kafka: ``OffsetMetadataManager.commitOffset`` and ``ConsumerGroup.validateOffsetCommit``.
"""

from __future__ import annotations

from simulations.coordinator import records
from simulations.coordinator.errors import ErrorCode
from simulations.coordinator.messages import CommitAnswer, CommittedOffset, OffsetCommit
from simulations.coordinator.outcome import Context, Outcome, Record


def commit(context: Context, request: OffsetCommit, *, older_epochs: bool) -> Outcome[CommitAnswer]:
    """Answers each partition; one type 1 record for each that is accepted, in the request's order.

    ``older_epochs``: a commit of an older member epoch is taken for partitions that the member has had since then
    (released Kafka); otherwise every other epoch is stale (the proposal).
    """
    refused = _refusal(context, request, older_epochs=older_epochs)
    codes: list[tuple[str, int, int]] = []
    written: list[Record] = []
    for offset in request.offsets:
        code = refused or _too_long(context, offset)
        codes.append((offset.topic_id, offset.partition, code))
        if code is ErrorCode.NONE:
            written.append(records.offset_commit(request.group_id, offset, context.now_ms))
    return Outcome(answer=CommitAnswer(error_codes=tuple(codes)), records=tuple(written))


def _refusal(context: Context, request: OffsetCommit, *, older_epochs: bool) -> ErrorCode:
    """The error that is put on every partition, or ``NONE``."""
    if not context.group_exists:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if request.member_epoch < 0 and not context.group.members:
        return ErrorCode.NONE
    member = context.group.members.get(request.member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if request.member_epoch == member.epoch:
        return ErrorCode.NONE
    if request.member_epoch > member.epoch or not older_epochs:
        return ErrorCode.STALE_MEMBER_EPOCH
    for offset in request.offsets:
        if _too_long(context, offset):
            # Refused for itself, before anybody asks when the member got the partition.
            continue
        held = member.assigned.get(offset.topic_id, {}), member.pending_revocation.get(offset.topic_id, {})
        since = held[0].get(offset.partition, held[1].get(offset.partition))
        if since is None or request.member_epoch < since:
            return ErrorCode.STALE_MEMBER_EPOCH
    return ErrorCode.NONE


def _too_long(context: Context, offset: CommittedOffset) -> ErrorCode:
    if len(offset.metadata) > context.settings.offset_metadata_max_bytes:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    return ErrorCode.NONE
