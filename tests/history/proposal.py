"""KIP-848's basic case as entries: requests, records, answers, and a note where each row of its table ends."""

from __future__ import annotations

from groups.history.entries import Provenance
from tests.history.logs import FOO, STABLE, UNRELEASED, Log, Records, record, topic_partitions


def proposal_basic() -> Log:
    """Topic foo with three partitions; A, B and C join. A keeps in ``assigned`` what it is asked to revoke."""
    log, r = Log(provenance=Provenance.SIMULATED), Records()
    log.topics(foo={"id": FOO, "partitions": 3})
    row = iter(range(1, 17))

    def joins(member: str, at_ms: int, epoch: int) -> None:
        request = log.at(at_ms).heartbeat(member, 0, ())
        log.write(r.member(member), r.epoch(epoch), cause=request)
        log.answer(request, member, 0)
        log.note(note="step", step=next(row), says=f"{member} joins")

    def target(at_ms: int, epoch: int, **partitions: tuple[int, ...]) -> None:
        targets = (
            record(
                7, {"groupId": "orders", "memberId": member}, {"topicPartitions": topic_partitions({FOO: ps})}
            )
            for member, ps in partitions.items()
        )
        log.at(at_ms).write(*targets, record(6, {"groupId": "orders"}, {"assignmentEpoch": epoch}))
        log.note(note="step", step=next(row), says="target computed")

    def moves(
        member: str, at_ms: int, epoch: int, assigned: tuple[int, ...], *, before: int, state: int = STABLE,
        owned: tuple[int, ...] | None = None,
    ) -> None:  # fmt: skip
        request = log.at(at_ms).heartbeat(member, before, owned)
        current = r.current(member, epoch, before, state, dict.fromkeys(assigned, epoch))
        log.write(current, cause=request)
        log.answer(request, member, epoch, assigned)
        log.note(note="step", step=next(row), says=f"{member} heartbeats")

    def told(member: str, at_ms: int, epoch: int, keeps: tuple[int, ...]) -> None:
        request = log.at(at_ms).heartbeat(member, epoch)
        log.answer(request, member, epoch, keeps)
        log.note(note="step", step=next(row), says=f"{member} is told")

    joins("A", 0, 1)
    target(100, 1, A=(0, 1, 2))
    moves("A", 1000, 1, (0, 1, 2), before=0)
    log.callback("A", "on_partitions_assigned", "start", (0, 1, 2))
    log.callback("A", "on_partitions_assigned", "end", (0, 1, 2))
    joins("B", 12000, 2)
    target(12100, 2, A=(0, 1), B=(2,))
    moves("B", 13000, 2, (), before=0, state=UNRELEASED)
    told("A", 16000, 1, (0, 1))
    log.callback("A", "on_partitions_revoked", "start", (2,))
    log.callback("A", "on_partitions_revoked", "end", (2,))
    moves("A", 17500, 2, (0, 1), before=1, owned=(0, 1))
    moves("B", 18000, 2, (2,), before=2)
    log.callback("B", "on_partitions_assigned", "start", (2,))
    log.callback("B", "on_partitions_assigned", "end", (2,))
    joins("C", 22600, 3)
    target(22700, 3, A=(0,), C=(1,))
    moves("B", 23000, 3, (2,), before=2)
    moves("C", 23600, 3, (), before=0, state=UNRELEASED)
    told("A", 27500, 2, (0,))
    log.callback("A", "on_partitions_revoked", "start", (1,))
    log.callback("A", "on_partitions_revoked", "end", (1,))
    moves("A", 28000, 3, (0,), before=2, owned=(0,))
    moves("C", 28600, 3, (1,), before=3)
    return log
