"""Watch expressions: a value of a group, followed along its log, such as ``group epoch minus member epoch of B``.

A term is a number or one of ``TERMS``; numbers are added (``plus``, ``+``) and subtracted (``minus``, ``-``) from left to right. A
member is named as the board names it, or by its id; a partition is ``topic-number``. Nothing else is read or run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypedDict

from groups.history.frames.changes import Change, apply
from groups.history.frames.shapes import Frame, MemberFrame

LENGTH_MOST: Final = 200

Value = int | str | None
"""``None``: nobody, or not known."""


class WatchError(ValueError):
    """Why an expression cannot be evaluated, in one line."""


class Step(TypedDict):
    """``value`` holds from this entry on."""

    sequence: int
    at_ms: int
    value: Value


@dataclass(frozen=True, slots=True)
class Term:
    """``of`` is what the term is about: a member, a partition, or nothing."""

    form: str
    of: str
    is_number: bool
    value: Callable[[Frame, str, Mapping[str, str]], Value]


@dataclass(frozen=True, slots=True)
class Expression:
    """``parts``: a sign and a term with what it is of. ``text`` is as it was given, with single spaces."""

    text: str
    parts: Sequence[tuple[int, Term, str]]

    @property
    def is_number(self) -> bool:
        return all(term.is_number for _, term, _ in self.parts)

    def value(self, frame: Frame, names: Mapping[str, str]) -> Value:
        """In this frame; ``names`` are what the board calls members, by id."""
        if not self.is_number:
            [(_, term, of)] = self.parts
            return term.value(frame, of, names)
        total = 0
        for sign, term, of in self.parts:
            value = term.value(frame, of, names)
            if not isinstance(value, int):
                return None
            total += sign * value
        return total


def parsed(text: str, names: Iterable[str], topics: Iterable[str]) -> Expression:
    """``names`` are the members' names and ids, ``topics`` the topics that there are. ``WatchError`` for anything else."""
    text = " ".join(text.split())
    if not text or len(text) > LENGTH_MOST:
        raise WatchError(f"An expression has 1 to {LENGTH_MOST} characters.")
    pieces = re.split(r" (minus|plus|-|\+) ", text)
    known, partitions_of = list(names), set(topics)
    parts = []
    for sign, piece in zip(["plus", *pieces[1::2]], pieces[::2], strict=True):
        term, of = _term(piece)
        if term.of == "member" and of not in known:
            raise WatchError(
                f"No member is called {of!r}. There are: {', '.join(dict.fromkeys(known[:12]))}."
            )
        if term.of == "partition" and _place(of)[0] not in partitions_of:
            raise WatchError(
                f"{of!r} is no partition such as orders-2. Topics: {', '.join(sorted(partitions_of)[:12]) or 'none'}."
            )
        if len(pieces) > 1 and not term.is_number:
            raise WatchError(f"{piece!r} is no number, so that nothing can be added to it or subtracted.")
        parts.append((-1 if sign in ("minus", "-") else 1, term, of))
    return Expression(text, parts)


def course(
    expression: Expression, chunks: Iterable[tuple[Frame, Iterable[Change]]], names: Mapping[str, str]
) -> Iterator[Step]:
    """A step for each entry that changes the value. A chunk is the frame before its first entry, and the changes that follow."""
    last: Step | None = None
    for first, changes in chunks:
        frame = first
        for sequence, some in groupby(changes, key=lambda change: change["sequence"]):
            frame = apply(frame, some)
            step = Step(sequence=sequence, at_ms=frame["at_ms"], value=expression.value(frame, names))
            if last is None or step["value"] != last["value"]:
                last = step
                yield step


def _term(piece: str) -> tuple[Term, str]:
    if piece.isascii() and piece.isdigit() and len(piece) < 16:
        return NUMBER, piece
    for term in TERMS:
        begin = term.form.removesuffix("…")
        of = piece[len(begin) :]
        if piece.lower() == term.form:
            return term, ""
        if term.of and of and piece.lower().startswith(begin):
            return term, of
    raise WatchError(f"{piece!r} is unknown. Terms: {', '.join(term.form for term in TERMS)}.")


def _place(partition: str) -> tuple[str, int]:
    topic, _, number = partition.rpartition("-")
    return (topic, int(number)) if number.isascii() and number.isdigit() and len(number) < 10 else ("", -1)


def _member(frame: Frame, of: str, names: Mapping[str, str]) -> MemberFrame | None:
    found = [member for id_, member in frame["members"].items() if of in (id_, names.get(id_))]
    return found[-1] if found else None


def _owner(frame: Frame, of: str, names: Mapping[str, str]) -> Value:
    topic, number = _place(of)
    owners = [
        names.get(id_, id_)
        for id_, member in frame["members"].items()
        if number in (member["assigned"] or {}).get(topic, ())
    ]
    return " and ".join(owners) or None


def _lag(frame: Frame, of: str, names: Mapping[str, str]) -> Value:
    known = frame.get("consumption")
    if known is None:
        return None
    topic, number = _place(of)
    partition = known["partitions"].get(topic, {}).get(str(number))
    if partition is None or partition["read"] is None:
        return None
    passed_ms = frame["at_ms"] - partition["begin_ms"]
    return partition["begin_offset"] + known["rates"].get(topic, 0) * passed_ms // 1000 - partition["read"]


def _group_lag(frame: Frame, of: str, names: Mapping[str, str]) -> Value:
    known = frame.get("consumption")
    return None if known is None else (known["waiting"] + known["waiting_rate"] * frame["at_ms"]) // 1000


def _unassigned(frame: Frame, of: str, names: Mapping[str, str]) -> Value:
    counts = [topic["partitions"] for topic in frame["topics"].values()]
    if any(count is None for count in counts):
        return None
    owned = {
        (topic, number)
        for member in frame["members"].values()
        for topic, numbers in (member["assigned"] or {}).items()
        if topic in frame["topics"]
        for number in numbers
    }
    return sum(count or 0 for count in counts) - len(owned)


def _group_epoch(frame: Frame, of: str, names: Mapping[str, str]) -> Value:
    return frame["group_epoch"] if "group_epoch" in frame else frame.get("generation")


def _epoch_of(frame: Frame, of: str, names: Mapping[str, str]) -> Value:
    member = _member(frame, of, names)
    return member.get("epoch") if member is not None else None


def _state_of(frame: Frame, of: str, names: Mapping[str, str]) -> Value:
    member = _member(frame, of, names)
    return member.get("state") if member is not None else None


def _partitions_of(frame: Frame, of: str, names: Mapping[str, str]) -> Value:
    member = _member(frame, of, names)
    return sum(map(len, (member["assigned"] or {}).values())) if member is not None else 0


NUMBER: Final = Term("12", "", True, lambda _, of, __: int(of))

TERMS: Final = (
    Term("owner of …", "partition", False, _owner),
    Term("lag of …", "partition", True, _lag),
    Term("lag", "", True, _group_lag),
    Term("unassigned", "", True, _unassigned),
    Term("members", "", True, lambda frame, _, __: len(frame["members"])),
    Term("partitions of …", "member", True, _partitions_of),
    Term("group epoch", "", True, _group_epoch),
    Term("assignment epoch", "", True, lambda frame, _, __: frame.get("assignment_epoch")),
    Term("member epoch of …", "member", True, _epoch_of),
    Term("state", "", False, lambda frame, _, __: frame["state"]),
    Term("state of …", "member", False, _state_of),
)
"""Owners are those that the coordinator has assigned; lag is in records, where the source reports at what rate they are written."""
