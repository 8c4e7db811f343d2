"""The rhythm of commits along the group's steps: who holds the partitions whose commits are followed.

Commits name topics; assignments of the consumer protocol name their ids. So nothing is followed of a topic whose name the log
does not report, and nothing of tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from groups.history.entries import Kind
from groups.history.evidence.ownership import Ownership
from groups.history.evidence.rhythm import Rhythm
from groups.history.evidence.steps import Key, Step
from groups.history.findings.log_notes import ABORTED
from groups.history.replay.commit_runs import CommitRun, Place
from groups.history.replay.fields import mapping
from groups.history.replay.offsets import ZERO_TOPIC_ID
from groups.history.state.group import Protocol, State

HolderOf = Callable[[Place], str | None]


def follow_run(rhythm: Rhythm, own: Ownership, before: State, run: CommitRun, *, emptied: bool) -> None:
    """A run of commits, which begins at ``before``; ``emptied``: whether all members of the group are gone."""
    rhythm.is_empty = _is_empty(before, emptied)
    if not run.between and all(before.topic_id(topic) == topic_id for topic, topic_id in run.topic_ids):
        holder_of = _holder_of(own, before)
        rhythm.commits(run.places, run.value_times_ms, run.committed, run.sequences, holder_of)
        _unowned_of_run(rhythm, own, before, run)
        return
    # Topic ids change within the run, or commits of it were thinned.
    ids: dict[str, str] = {}
    can_judge = _can_judge_owners(own, before)
    holder_of = _holder_of(own, before, ids)
    between = run.between or [0] * len(run.places)
    columns = zip(run.places, run.value_times_ms, run.committed, run.sequences, run.ids, between, strict=True)
    for place, at_ms, offset, sequence, topic_id, thinned in columns:
        if topic_id is not None:
            ids[place[0]] = topic_id
        rhythm.commit(place, at_ms, offset, sequence, holder_of, thinned)
        if can_judge and rhythm.paces[place].holder is None and _is_known(place[0], before, ids):
            rhythm.positions.without_owner(place, at_ms, sequence, offset)


def _unowned_of_run(rhythm: Rhythm, own: Ownership, before: State, run: CommitRun) -> None:
    if not _can_judge_owners(own, before):
        return
    unowned = {
        place
        for place in run.latest
        if place in rhythm.paces and rhythm.paces[place].holder is None and _is_known(place[0], before, {})
    }
    if unowned:
        rows = zip(run.places, run.value_times_ms, run.sequences, run.committed, strict=True)
        for place, at_ms, sequence, offset in rows:
            if place in unowned:
                rhythm.positions.without_owner(place, at_ms, sequence, offset)


def follow_commits(rhythm: Rhythm, own: Ownership, step: Step, *, emptied: bool) -> None:
    """The offsets that a step's records commit, or delete."""
    committing = [
        entry for entry in step.entries if entry.kind is Kind.RECORD and entry.payload.get("type") in (0, 1)
    ]
    if not committing:
        return
    ids: dict[str, str] = {}
    holder_of = _holder_of(own, step.before, ids)
    rhythm.is_empty = _is_empty(step.before, emptied)
    can_judge = _can_judge_owners(own, step.before)
    for entry in committing:
        key, value = mapping(entry.payload.get("key")), mapping(entry.payload.get("value"))
        topic, partition, offset = key.get("topic"), key.get("partition"), value.get("offset")
        if key.get("group") != step.after.group:
            continue
        topic_id = value.get("topicId")
        if isinstance(topic, str) and isinstance(topic_id, str) and topic_id != ZERO_TOPIC_ID:
            ids[topic] = topic_id
        if isinstance(topic, str) and isinstance(partition, int) and isinstance(offset, int):
            place = topic, partition
            rhythm.commit(place, entry.at_ms, offset, entry.sequence, holder_of)
            if can_judge and rhythm.paces[place].holder is None and _is_known(topic, step.before, ids):
                rhythm.positions.without_owner(place, entry.at_ms, entry.sequence, offset)
        elif isinstance(topic, str) and isinstance(partition, int) and entry.payload.get("value") is None:
            rhythm.deleted((topic, partition), entry.at_ms, entry.sequence)


def follow_holders(rhythm: Rhythm, own: Ownership, step: Step, *, hole: bool) -> None:
    """Who has which of the partitions whose commits are followed."""
    now_ms = step.after.at_ms
    if hole or step.migrates:
        rhythm.restarts()
        holder_of = _holder_of(own, step.after)
        for place in rhythm.paces:
            holder = holder_of(place)
            if holder is not None:
                rhythm.takes(holder, place, now_ms, step.sequence)
        return
    for change in step.members:
        for key in change.released:
            rhythm.releases(_place(step, key), change.member_id)
    for change in step.members:
        for key in change.gained:
            rhythm.takes(change.member_id, _place(step, key), now_ms, step.sequence)


def _is_empty(state: State, emptied: bool) -> bool:
    """Whether the group is one for members, and has none: a simple group, which only commits, never has.

    A classic group's record lists all members. Of others the log may begin before it has shown any.
    """
    if state.deleted:
        return False
    if state.protocol is Protocol.CLASSIC:
        return bool(state.classic.protocol_type) and not state.classic.members
    return emptied and state.protocol is Protocol.CONSUMER and not state.modern.members


def _can_judge_owners(own: Ownership, state: State) -> bool:
    """Whether a partition without a known owner may have none: some members own partitions."""
    if state.protocol is Protocol.CLASSIC:
        return state.classic.protocol_type == "consumer" and bool(own.owner)
    return state.protocol is Protocol.CONSUMER and bool(own.owner)


def _is_known(topic: str, state: State, ids: Mapping[str, str]) -> bool:
    """Whether owners of the topic can be looked up: a consumer group's records name topics by their ids."""
    return state.protocol is Protocol.CLASSIC or bool(ids.get(topic) or state.topic_id(topic))


def _holder_of(own: Ownership, state: State, ids: Mapping[str, str] | None = None) -> HolderOf:
    """Who owns a partition that is given by its topic's name; ``ids`` are newer than the state's."""
    owner = own.owner

    def holder_of(place: Place) -> str | None:
        topic, partition = place
        topic_id = ids.get(topic) if ids else None
        held = owner.get(place)
        return held if held is not None else owner.get((topic_id or state.topic_id(topic) or "", partition))

    return holder_of


def _place(step: Step, key: Key) -> Place:
    """A partition by its topic's name, as commits have it."""
    topic, partition = key
    after = step.after
    return after.names.get(topic) or after.former.get(topic, topic), partition


def follow_aborted(rhythm: Rhythm, step: Step) -> None:
    """Commits that were aborted with their transaction are signs of life of the member that has the partitions."""
    last = step.entries[-1]
    if last.kind is not Kind.NOTE or last.payload.get("note") != ABORTED:
        return
    for topic, numbers in mapping(last.payload.get("partitions")).items():
        for number in numbers if isinstance(numbers, list) else ():
            pace = rhythm.paces.get((topic, number))
            if pace is not None:
                pace.lives_on(last.at_ms)
