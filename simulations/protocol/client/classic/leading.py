"""The leader's part: it reads the members' subscriptions, runs its assignor, and checks what came out.

Kafka: ``ConsumerCoordinator.onLeaderElected``, ``validateCooperativeAssignment``; B2.5 of the client's rules: the
check is left out for ``cooperative-sticky`` since 3.1 (KAFKA-13406).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from groups.wire.embedded.user_data import COOPERATIVE_STICKY, STICKY
from groups.wire.errors import RecordError
from simulations.protocol.assignors.claims import claims_of
from simulations.protocol.assignors.classic.custom import StickyBefore23Assignor
from simulations.protocol.assignors.classic.strategies import STRATEGIES
from simulations.protocol.assignors.interface import (
    Assignment,
    Assignor,
    AssignorError,
    GroupSpec,
    MemberSpec,
    Topic,
)
from simulations.protocol.client.classic import embedding
from simulations.protocol.client.classic.state import Memory, Snapshot
from simulations.protocol.messages.classic_requests import JoinAnswer, Offered


class AssignmentFailed(Exception):
    """The rebalance fails at the leader; ``exception`` is Java's name of what ``poll()`` throws."""

    def __init__(self, exception: str, message: str) -> None:
        super().__init__(message)
        self.exception = exception


Withheld = dict[str, dict[str, list[int]]]
"""Member id → topic → partitions that it is to get in the next round."""


def assign(m: Memory, answer: JoinAnswer, assignors: dict[str, Assignor]) -> tuple[Offered, Withheld]:
    """Each member's bytes, and what is kept back for a round. ``assignors`` are the client's own, made when first used. ``AssignmentFailed`` if it fails."""
    name = answer.protocol_name or ""
    if name not in m.config.assignors:
        raise AssignmentFailed(
            "IllegalStateException", f"the coordinator chose {name}, which is not configured"
        )
    newest = m.config.release.subscription_version
    try:
        members = {
            member.member_id: embedding.member_spec(member.metadata, newest, member.instance_id)
            for member in answer.members
        }
    except RecordError as error:
        raise AssignmentFailed("SchemaException", str(error)) from None
    m.group_names = frozenset(topic for member in members.values() for topic in member.topics)
    if not m.group_names.issubset(m.covered):
        m.metadata, m.covered = m.config.metadata(), m.covered | m.group_names
    m.snapshot = snapshot(m)
    if answer.skip_assignment:
        return (), {}
    topics = {topic: m.metadata[topic] for topic in sorted(m.group_names) if topic in m.metadata}
    assignor = assignors.setdefault(name, _made(name, m.config.release.sticky_version))
    try:
        counted = members
        if name == COOPERATIVE_STICKY and m.config.release.newest_claims_only:
            counted = _of_newest_generation(members)
        answered = assignor.assign(GroupSpec(members=counted, topics=topics))
    except AssignorError as error:
        raise AssignmentFailed("KafkaException", str(error)) from None
    given = answered.members
    if m.cooperative and (name != COOPERATIVE_STICKY or m.config.release.checks_cooperative_sticky):
        _check_cooperative(members, given, name)
    version, user_data = newest, answered.user_data
    if m.config.release.librdkafka:
        version, user_data = 0, {member_id: member.user_data or b"" for member_id, member in members.items()}
    offered = tuple(
        (member_id, embedding.assignment(given.get(member_id, {}), version, user_data.get(member_id)))
        for member_id in members
    )
    return offered, _withheld(answered.intended or given, given)


def _withheld(intended: Assignment, sent: Assignment) -> Withheld:
    rest: Withheld = {}
    for member_id, partitions in intended.items():
        if sent.get(member_id) is partitions:
            continue
        for topic, numbers in partitions.items():
            now = frozenset(sent.get(member_id, {}).get(topic, ()))
            if later := [p for p in numbers if p not in now]:
                rest.setdefault(member_id, {})[topic] = sorted(later)
    return rest


def snapshot(m: Memory) -> Snapshot:
    """What metadata contain of their topics; racks only where the leader itself has one."""
    return {
        topic: (m.metadata[topic].partitions, _racks(m.metadata[topic]) if m.config.rack_id else ())
        for topic in sorted(m.covered)
        if topic in m.metadata
    }


def _racks(topic: Topic) -> tuple[frozenset[str], ...]:
    return tuple(frozenset((topic.racks or {}).get(partition, ())) for partition in range(topic.partitions))


def _of_newest_generation(members: Mapping[str, MemberSpec]) -> dict[str, MemberSpec]:
    """The members, without what those of older generations, or of none, claim."""
    generations = {
        member_id: claims_of(COOPERATIVE_STICKY, member).generation for member_id, member in members.items()
    }
    known = [generation for generation in generations.values() if generation is not None and generation >= 0]
    newest = max(known, default=None)
    return {
        member_id: member if newest is None or generations[member_id] == newest else replace(member, owned={})
        for member_id, member in members.items()
    }


def _made(name: str, sticky_version: int) -> Assignor:
    return StickyBefore23Assignor() if name == STICKY and not sticky_version else STRATEGIES[name]()


def _check_cooperative(
    members: Mapping[str, MemberSpec], given: Mapping[str, Mapping[str, Iterable[int]]], name: str
) -> None:
    """Nothing may be given to one member while another one claims it and is to give it up."""
    added: set[tuple[str, int]] = set()
    revoked: set[tuple[str, int]] = set()
    for member_id, member in members.items():
        owned = {(topic, p) for topic, numbers in member.owned.items() for p in numbers}
        new = {(topic, p) for topic, numbers in given.get(member_id, {}).items() for p in numbers}
        added |= new - owned
        revoked |= owned - new
    if both := sorted(added & revoked):
        listed = ", ".join(f"{topic}-{partition}" for topic, partition in both)
        raise AssignmentFailed(
            "IllegalStateException",
            f"{name} gave away {listed} before the member that claims it has revoked it",
        )
