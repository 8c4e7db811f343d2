"""Metadata flapping: group epochs rise though nobody joins or leaves, since the topics of the group change again and again.

Needs: records: the hash over the subscribed topics that an epoch's record holds. Claims: how often, in what time; with the cluster's
metadata log which topics came and went. Cannot know: who deletes and creates them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Final

from groups.history.entries import Kind
from groups.history.evidence.steps import Step
from groups.history.findings.declaring import Watch
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.pattern import KEPT_MAX, RECORDS, Pattern, Severity
from groups.history.replay.record_types import MEMBER_METADATA, meaning
from groups.history.words import counted, lasting, listed

PATTERN: Final = Pattern(
    kind="metadata_flapping",
    title="Metadata flapping",
    severity=Severity.WARNING,
    rank=70,
    sources=((RECORDS,),),
    look_for="three group epochs or more, at most 5 min apart, whose topics changed and whose members did not",
    causes=(
        "one program deletes a topic and another one creates it",
        "topics that are created by producing to them",
        "an expression that matches topics which come and go",
    ),
    look_at=("auto.create.topics.enable", "what deletes topics", "the expression of the subscription"),
    differs=(
        "KIP-429 has on_partitions_lost for partitions of a topic that is gone; released classic clients call on_partitions_revoked "
        "when the join completes. KIP-848 records the metadata (type 4), released brokers a hash in the epoch's record."
    ),
)

CHANGES_LEAST: Final = 3
"""A topic that is deleted and made again is two changes."""

APART_MOST_MS: Final = 5 * 60_000

REGULAR_EXPRESSION: Final = 16
"""The record of what an expression matches."""


@dataclass(slots=True)
class TopicChanges(Watch):
    """Epochs that began because topics changed: when, by which entry."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.RECORD})
    sees_moves: ClassVar[bool] = False

    kept: list[tuple[int, int]] = field(default_factory=list)

    def add(self, step: Step) -> None:
        before, after = step.before.modern, step.after.modern
        if not step.epoch_changed or step.joined or step.removed or step.replaced or step.found:
            return
        if not before.epoch_recorded or before.metadata_hash == after.metadata_hash:
            return
        if not _subscribes(step) and len(self.kept) < KEPT_MAX:
            self.kept.append((step.after.at_ms, step.sequence))


def _subscribes(step: Step) -> bool:
    """Whether a member changed what it subscribes to in the same request."""
    types = (entry.payload.get("type") for entry in step.entries if entry.kind is Kind.RECORD)
    return any(
        isinstance(one, int) and meaning(one) in (MEMBER_METADATA, REGULAR_EXPRESSION) for one in types
    )


def found_flapping_topics(facts: Facts) -> Iterator[Finding]:
    """``metadata_flapping``: each stretch."""
    stretches: list[list[tuple[int, int]]] = []
    for one in facts.watch(TopicChanges).kept:
        if stretches and one[0] - stretches[-1][-1][0] <= APART_MOST_MS:
            stretches[-1].append(one)
        else:
            stretches.append([one])
    for stretch in stretches:
        if len(stretch) < CHANGES_LEAST:
            continue
        from_ms, to_ms = stretch[0][0], stretch[-1][0]
        topics = list(
            dict.fromkeys(
                str(one["topic"])
                for kind in ("topics_deleted", "topics_remade")
                for one in facts.troubles.kept[kind]
            )
        )
        came = f", as {listed(topics)} came and went" if topics else ""
        steps = [sequence for _, sequence in stretch]
        yield PATTERN.found(
            f"{counted(len(stretch), 'group epoch')}{lasting(to_ms - from_ms, ' in ')} without a change of members{came}",
            steps,
            needs=[RECORDS, *(["notes"] if topics else [])],
            count=len(stretch),
            topics=topics,
            from_ms=from_ms,
            to_ms=to_ms,
            length_ms=to_ms - from_ms,
            steps=steps,
        )


FINDER: Final = PATTERN.finder(370, found_flapping_topics, watch=TopicChanges)
