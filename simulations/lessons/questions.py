"""Questions: what can be answered, what is right, and why the rest is not. The run is the judge of all three."""

from __future__ import annotations

from random import Random
from typing import Final, Literal, TypedDict

from simulations.lessons.document import Ask, Option
from simulations.lessons.explaining import Explainer
from simulations.lessons.filling import Filler, Problem
from simulations.lessons.reasons import reason_text
from simulations.lessons.values import (
    Duration,
    Members,
    Number,
    Partitions,
    Said,
    TextPart,
    Value,
    equals,
    parts,
    plain,
)

NOBODY: Final = "nobody"


class OptionSheet(TypedDict):
    """``why``: shown to a reader who took a wrong one, or left out a right one."""

    key: str
    says: list[TextPart]
    right: bool
    why: list[TextPart]


class AskSheet(TypedDict):
    """``many``: any number of the options may be right. ``tray``: what chosen partitions are put into. ``at``: the sequence of
    the moment that is revealed with the answer, or None where the board stays."""

    kind: Literal["partitions", "members", "choice", "places"]
    many: bool
    question: list[TextPart]
    tray: list[TextPart]
    options: list[OptionSheet]
    answer: list[TextPart]
    at: int | None
    hint: list[TextPart] | None
    then: list[TextPart] | None


def answered(ask: Ask, place: int, filler: Filler, lesson: str) -> AskSheet:
    """The question with its answer; ``filler.problems`` gets what does not hold.

    Options are shuffled by a seed of the lesson's id and the beat: authors write the right one first. Their keys are their places in the file.
    """
    reveal = filler.index(ask.at, place) if ask.at is not None else place
    sheet: AskSheet = {
        "kind": "choice",
        "many": False,
        "question": filler.fill(ask.question, place),
        "tray": [],
        "options": [],
        "answer": [],
        "at": filler.sequence(reveal) if ask.at is not None else None,
        "hint": filler.fill(ask.hint, place) if ask.hint is not None else None,
        "then": filler.fill(ask.then, reveal) if ask.then is not None else None,
    }
    if ask.places:
        sheet["kind"] = "places"
        return sheet
    if ask.options:
        sheet["options"] = [_chosen(option, place, reveal, filler) for option in ask.options]
        right = [option for option in sheet["options"] if option["right"]]
        if len(right) != 1:
            filler.problems.append(
                Problem(
                    ask.line,
                    f"{ask.field}.options",
                    f"one option must be right in this run, {len(right)} are",
                )
            )
        sheet["answer"] = right[0]["says"] if right else []
        Random(f"{lesson} {ask.field}").shuffle(sheet["options"])
        return sheet
    assert ask.of is not None
    assert ask.expect is not None
    value = filler.value(ask.of, reveal, ask.line, f"{ask.field}.of")
    if value is None:
        return sheet
    if not equals(value, ask.expect):
        filler.problems.append(
            Problem(ask.line, f"{ask.field}.expect", f"the run answers {plain(value)}, not {ask.expect}")
        )
    _options(sheet, ask, value, place, reveal, filler)
    sheet["answer"] = sentence(ask.of, value, filler)
    return sheet


def _chosen(option: Option, place: int, reveal: int, filler: Filler) -> OptionSheet:
    right = all(filler.holds(fact, reveal) for fact in option.facts)
    if not right and option.because is None:
        filler.problems.append(
            Problem(
                option.line, f"{option.field}.because", "a wrong option needs because: what speaks against it"
            )
        )
    return {
        "key": option.field.rpartition("[")[2].rstrip("]"),
        "says": filler.fill(option.text, place),
        "right": right,
        "why": filler.fill(option.because, reveal) if option.because is not None else [],
    }


def _options(sheet: AskSheet, ask: Ask, value: Value, place: int, reveal: int, filler: Filler) -> None:
    """Every answer that can be given, each with its explanation."""
    explain = filler.explainer(ask.of or "", reveal, place)
    candidates = _candidates(value, ask, place, reveal, filler)
    right = [plain(value)]
    if isinstance(value, Partitions):
        sheet["kind"], sheet["many"] = "partitions", True
        sheet["tray"] = tray(ask.of or "", filler)
        right = list(value.names)
    elif isinstance(value, Members):
        # Where "nobody" can be chosen, it excludes everybody else.
        one_alone = value.single or NOBODY in candidates
        sheet["kind"], sheet["many"] = "members", not one_alone
        right = list(value.names) if value.names or not one_alone else [NOBODY]
    for candidate in candidates:
        is_right = candidate in right
        why = _why(candidate, value, explain, ask, filler, right=is_right, place=reveal)
        if not is_right and not why:
            filler.problems.append(
                Problem(
                    ask.line,
                    f"{ask.field}.because",
                    f"the simulator cannot explain why {candidate} is wrong; write because: {{{candidate}: …}}",
                )
            )
        sheet["options"].append(
            {"key": candidate, "says": _shown(candidate, value), "right": is_right, "why": why}
        )


def _candidates(value: Value, ask: Ask, place: int, reveal: int, filler: Filler) -> list[str]:
    if ask.among:
        found = []
        for path in ask.among:
            chosen = filler.value(path, place, ask.line, f"{ask.field}.among")
            found += [plain(chosen)] if chosen is not None else []
        if isinstance(value, Number | Duration | Said) and plain(value) not in found:
            filler.problems.append(
                Problem(ask.line, f"{ask.field}.among", f"the answer, {plain(value)}, is not among them")
            )
        return list(dict.fromkeys(found))
    return filler.candidates(value, ask.of or "", place, reveal)


def _why(
    candidate: str,
    value: Value,
    explain: Explainer | None,
    ask: Ask,
    filler: Filler,
    *,
    right: bool,
    place: int,
) -> list[TextPart]:
    if candidate in ask.because:
        return filler.fill(ask.because[candidate], place)
    if explain is None:
        return filler.explained(candidate, ask.of or "", right=right)
    match value:
        case Partitions():
            pieces = explain.partition(candidate, right=right)
        case Members():
            pieces = explain.someone(candidate, right=right)
        case Number(number):
            pieces = None if right else explain.number(int(candidate), number)
        case Said():
            pieces = None if right else explain.state(candidate)
        case _:
            pieces = None
    return reason_text(pieces) if pieces else []


def _shown(candidate: str, value: Value) -> list[TextPart]:
    match value:
        case Partitions():
            return parts(Partitions((candidate,)), candidate)
        case Members() if candidate != NOBODY:
            return parts(Members((candidate,)), candidate)
    return [{"kind": "value", "text": candidate}]


def tray(path: str, filler: Filler) -> list[TextPart]:
    """What is before the partitions that a reader has put together: "C owns"."""
    head, _, asked = path.partition("@")[0].rpartition(".")
    texts = {
        "owned": " owns",
        "kept": " keeps",
        "revoking": " revokes",
        "target": "’s target",
        "waiting": " waits for",
        "reads": " reads",
        "withheld": " is to get later",
    }
    of_the_group = {
        "unassigned": "unassigned",
        "unread": "read by nobody",
        "withheld": "withheld",
        "read_twice": "read by two",
    }
    if filler.is_member(asked):
        return [{"kind": "member", "text": asked}, {"kind": "text", "text": " gets"}]
    if head == "group" or asked not in texts:
        return [{"kind": "text", "text": of_the_group.get(asked, "chosen")}]
    return [{"kind": "member", "text": head}, {"kind": "text", "text": texts[asked]}]


def sentence(path: str, value: Value, filler: Filler) -> list[TextPart]:
    """The answer as a sentence: "C owns foo-2."."""
    head, _, asked = path.partition("@")[0].rpartition(".")
    of_members: dict[str, str] = {
        "owned": " owns ",
        "kept": " keeps ",
        "revoking": " revokes ",
        "target": "’s target is ",
        "waiting": " waits for ",
        "waits_for": " waits for ",
        "blocks": " blocks ",
        "epoch": " is at member epoch ",
        "state": " is in state ",
        "reads": " reads ",
        "withheld": " is to get later: ",
    }
    of_the_group: dict[str, str] = {
        "epoch": "The group epoch is ",
        "assignment_epoch": "The assignment epoch is ",
        "state": "The group is ",
        "unassigned": "Unassigned: ",
        "behind": "Behind the group epoch: ",
        "idle": "Without a partition: ",
        "members": "The members: ",
        "size": "Members: ",
        "generation": "The generation is ",
        "leader": "The leader is ",
        "joined": "At the barrier: ",
        "awaited": "The others wait for ",
        "withheld": "Withheld: ",
        "unread": "Read by nobody: ",
        "read_twice": "Read by two: ",
    }
    end: TextPart = {"kind": "text", "text": "."}
    if filler.is_member(asked):
        return [
            {"kind": "member", "text": asked},
            {"kind": "text", "text": " gets "},
            *parts(value, path),
            end,
        ]
    if head == "group" and asked in of_the_group:
        return [{"kind": "text", "text": of_the_group[asked]}, *parts(value, path), end]
    if filler.is_member(head) and isinstance(value, Number) and asked == "count":
        noun = " partition." if value.number == 1 else " partitions."
        return [
            {"kind": "member", "text": head},
            {"kind": "text", "text": " owns "},
            *parts(value, path),
            {"kind": "text", "text": noun},
        ]
    if filler.is_member(head) and asked in of_members:
        return [
            {"kind": "member", "text": head},
            {"kind": "text", "text": of_members[asked]},
            *parts(value, path),
            end,
        ]
    if asked in ("owner", "readers") and isinstance(value, Members):
        return [
            {"kind": "partition", "text": head},
            {"kind": "text", "text": " is owned by " if asked == "owner" else " is read by "},
            *parts(value, path),
            end,
        ]
    return [{"kind": "text", "text": "The answer is "}, *parts(value, path), end]
