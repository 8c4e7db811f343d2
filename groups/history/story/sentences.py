"""What sentences about groups of all protocols share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from groups.history.entries import Provenance
from groups.history.evidence.display_names import DisplayNames
from groups.history.evidence.steps import Key, Retarget, Step
from groups.history.state.group import Protocol, State
from groups.history.story.moment import MomentShape
from groups.history.words import listed, partitions

COORDINATOR: Final = "coordinator"

LOWERED: Final = ("The ", "Group epoch", "Target ", "A member ", "Generation ")
"""Beginnings of sentences that begin small after another one; names keep their letters."""

TARGETS_NAMED_MAX: Final = 4
"""Receivers of partitions that one sentence names; beyond, moves are counted."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, the shape of its mark in the timeline, and whose doing it is."""

    shape: MomentShape
    actor: str
    text: str


def joined(sentences: Sequence[str]) -> str:
    """Sentences as one; the later ones begin small, unless with a name."""
    rest = (text[0].lower() + text[1:] if text.startswith(LOWERED) else text for text in sentences[1:])
    return "; ".join((sentences[0], *rest))


def reason_unknown(step: Step) -> str:
    """Why a member is gone, if no request and no timer shows it. The records of a polled group are inferred."""
    polled = step.entries[-1].provenance is Provenance.INFERRED
    return "no poll shows why" if polled else "no record says why"


def named(cast: DisplayNames, member_ids: Sequence[str]) -> str:
    return listed([cast.name(member_id) for member_id in member_ids])


def target_clause(state: State, retargets: Iterable[Retarget], cast: DisplayNames) -> str:
    """``foo-1 goes to C``; what goes to nobody is not spoken of, unless nothing else does.

    In a share group nothing goes from one to the other: ``C is to read foo-1``.
    """
    receivers: dict[str, set[Key]] = {}
    left: dict[str, set[Key]] = {}
    for retarget in retargets:
        if retarget.after is not None:
            receivers.setdefault(retarget.after, set()).add(retarget.partition)
        elif retarget.before is not None:
            left.setdefault(retarget.before, set()).add(retarget.partition)
    if len(receivers) > TARGETS_NAMED_MAX:
        total = sum(len(keys) for keys in receivers.values())
        return f"{total} {state.wording.noun}s go to {len(receivers)} members"
    if state.protocol is Protocol.SHARE:
        verb, some = ("is to read", receivers) if receivers else ("is to leave", left)
        return "; ".join(f"{cast.name(who)} {verb} {in_words(state, keys)}" for who, keys in some.items())
    clauses = [
        f"{in_words(state, keys)} {'goes' if len(keys) == 1 else 'go'} to {cast.name(member_id)}"
        for member_id, keys in receivers.items()
    ]
    if not clauses and left:
        gone = {key for keys in left.values() for key in keys}
        clauses = [f"{in_words(state, gone)} {'goes' if len(gone) == 1 else 'go'} to nobody"]
    return "; ".join(clauses)


def in_words(state: State, keys: Iterable[Key]) -> str:
    """Partitions or tasks as sentences name them."""
    return partitions(((state.topic_words(topic), number) for topic, number in keys), state.wording)
