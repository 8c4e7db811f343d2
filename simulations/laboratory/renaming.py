"""A case without the names of its members and topics, for readers who may not see them.

Assignors go by the order of member ids and topic names, so pseudonyms keep it: they are numbers in that order, and reveal nothing else. Names
that the laboratory gives stay, since they name nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simulations.laboratory.assignor_answers import Answer, answers
from simulations.laboratory.cases import Case, CaseError, Member


def nameless(case: Case) -> Case:
    """The same case under pseudonyms; all six assignors answer as before. ``CaseError`` if one would not."""
    renamed = case
    if any(member.name or member.member_id for member in case.everybody):
        names = _numbered("member", case.ids)
        everybody = [_called(member, name) for member, name in zip(case.everybody, names, strict=True)]
        there = len(case.members)
        renamed = replace(renamed, members=tuple(everybody[:there]), joining=tuple(everybody[there:]))
    if any(topic.name for topic in case.topics):
        topics = zip(case.topics, _numbered("topic", case.topic_names), strict=True)
        renamed = replace(renamed, topics=tuple(replace(topic, name=name) for topic, name in topics))
    if renamed != case and list(map(_places, answers(renamed))) != list(map(_places, answers(case))):
        raise CaseError(
            "with names hidden an assignor would answer otherwise; share it with its names", "hide_names"
        )
    return renamed


def _numbered(kind: str, names: Sequence[str]) -> list[str]:
    """Pseudonyms in the order of the names, as Java compares them."""
    ordered = sorted(names, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    digits = len(str(len(names)))
    numbers = {name: number for number, name in enumerate(ordered, 1)}
    return [f"{kind}-{numbers[name]:0{digits}}" for name in names]


def _called(member: Member, name: str) -> Member:
    return replace(member, name=name, member_id=None)


def _places(answer: Answer) -> object:
    return answer.before, answer.after, answer.sent, answer.error is None
