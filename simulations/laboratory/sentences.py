"""What is said of a case: its title, the sentence on top, a line for each board. Every clause points to a board.

Computed from the answers; nothing in it is typed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from simulations.laboratory.assignor_answers import BOARDS, Answer, counts_of
from simulations.laboratory.cases import NOBODY, Case, Event
from simulations.laboratory.shapes import Part
from simulations.protocol.assignors.measures import RebalanceProtocol

NAMED_MOST: Final = 6
"""So many members or partitions are named in a sentence; of more only the number is shown."""

WORDS: Final = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


def counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def listed(names: Sequence[str], most: int | None = None) -> str:
    """``A, B and C``; of more than ``most`` the number of the others."""
    if most is not None and len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def title_of(case: Case) -> str:
    """``Six members, G joins``."""
    size = len(case.members)
    word = WORDS[size].capitalize() if size < len(WORDS) else f"{size:,}"
    return f"{word} member{'' if size == 1 else 's'}, {_event(case)}"


def verdict(case: Case, answered: Sequence[Answer]) -> list[Part]:
    """The sentence on top."""
    sound = [answer for answer in answered if answer.measures is not None]
    parts = _of_throwing(answered)
    if not sound:
        return parts
    if case.event is Event.STABLE:
        return [*_stable(sound), *parts]
    if case.event is Event.FULL:
        return [*_full(sound), *parts]
    return [*_changed(case, sound), *parts]


def line_of(case: Case, answer: Answer) -> str:
    """The text under one board."""
    found = answer.measures
    if found is None:
        return f"Kafka throws here: {answer.error}."
    if case.event is Event.FULL:
        return f"From {found.least:,} to {found.most:,} partitions each."
    if found.rebalances == 2:
        it = "it" if found.revoked == 1 else "them"
        return (
            f"Two rebalances: the first takes {counted(found.revoked, 'partition')} away, "
            f"the second hands {it} on."
        )
    if answer.board.rebalance is RebalanceProtocol.EAGER:
        if not found.interrupted:
            text = "Eager, but nobody reads anything yet."
        else:
            everybody = found.interrupted == len(case.present) - len(case.joining)
            who = (
                "the only member stops"
                if found.interrupted == 1 == len(case.present)
                else f"{'all ' if everybody else ''}{found.interrupted:,} member{'s stop' if found.interrupted > 1 else ' stops'}"
            )
            text = f"Eager: {who} reading everything, {counted(found.paused, 'partition')}."
    elif not found.interrupted:
        text = "Nobody stops reading."
    else:
        names = case.names
        losers = [names[place] for place in losers_of(case, answer)]
        text = f"Only what moves stops being read: {counted(found.paused, 'partition')} of {listed(losers, NAMED_MOST)}."
    gets = _newcomer_gets(case, answer)
    if gets is not None and found.most - found.least > 1:
        text += f" {case.names[len(case.members)]} gets {gets:,}."
    return text


def losers_of(case: Case, answer: Answer) -> list[int]:
    """Those who stay and do not keep all that they had."""
    there = set(case.present)
    sent = answer.sent or answer.after
    return sorted(
        {
            old
            for old, new in zip(answer.before, sent, strict=True)
            if old != NOBODY and old != new and old in there
        }
    )


def _event(case: Case) -> str:
    if case.event is Event.JOIN:
        return f"{_who(case, range(len(case.members), len(case.everybody)))}"
    if case.event is Event.LEAVE:
        return _who(case, case.leaving)
    if case.grown is not None:
        return f"{case.topic_names[case.grown[0]]} grows to {case.sizes[case.grown[0]]:,}"
    return "from nothing" if case.event is Event.FULL else "nothing changes"


def _who(case: Case, places: Sequence[int]) -> str:
    verb = "join" if case.event is Event.JOIN else "leave"
    if len(places) == 1:
        return f"{case.names[places[0]]} {verb}s"
    return f"{len(places):,} {verb}"


def _head(case: Case) -> str:
    if case.grown is not None:
        return f"When {case.topic_names[case.grown[0]]} grows by {case.grown[1]:,}"
    places = case.leaving or range(len(case.members), len(case.everybody))
    if len(places) == 1:
        return f"When {_who(case, places)}"
    return f"When {len(places):,} members {'join' if case.event is Event.JOIN else 'leave'}"


def _stable(sound: Sequence[Answer]) -> list[Part]:
    moving = [group for group in reversed(_by(sound, _moved)) if group[0]]
    if not moving:
        eager = next((answer for answer in sound if _paused(answer)), None)
        parts = [_text("Nothing changed and "), _clause(sound[-1], "nothing moves"), _text(".")]
        if eager is not None:
            parts += [
                _text(" Classic members with an eager assignor still "),
                _clause(eager, "stop all their partitions"),
                _text(" at each rebalance."),
            ]
        return parts
    parts = [_text("Nothing changed, and yet ")]
    for number, (moved, group) in enumerate(moving):
        names = _names(group, sound)
        verb = "" if number else "moves " if len(names) == 1 else "move "
        behind = f" {'partition' if moved == 1 else 'partitions'}" if number == len(moving) - 1 else ""
        parts += [
            _text(", " if number else ""),
            _clause(group[-1], f"{listed(names)} {verb}{moved:,}"),
            _text(behind),
        ]
    return [*parts, _text(": the group was left by another assignor, or there is a more even answer.")]


def _full(sound: Sequence[Answer]) -> list[Part]:
    by = _by(sound, _spread)
    (least, even), (most, uneven) = by[0], by[-1]
    if len(by) == 1:
        who = "all six end" if len(sound) == len(BOARDS) else f"all {len(sound)} end"
        return [
            _text("From an empty group, "),
            _clause(even[-1], f"{who} with {least:,}"),
            _text(" between most and fewest; they differ in who gets what."),
        ]
    names, others = _names(even, sound), _names(uneven, sound)
    return [
        _text("From an empty group, "),
        _clause(even[-1], f"{listed(names)} {'is' if len(names) == 1 else 'are'} the evenest, {least:,}"),
        _text(" between most and fewest; "),
        _clause(uneven[-1], f"{listed(others)} the least, {most:,}"),
        _text("."),
    ]


def _changed(case: Case, sound: Sequence[Answer]) -> list[Part]:
    spread, even = _by(sound, _spread)[0]
    moved, best = _by(even, _moved)[0]
    worst = max(sound, key=_moved)
    names = _names(best, sound)
    one = len(names) == 1
    parts = [
        _text(f"{_head(case)}, "),
        _clause(
            best[-1],
            f"{listed(names)} {'moves' if one else 'move'} {counted(moved, 'partition') if moved else 'nothing'}",
        ),
        _text(f" and {'ends' if one else 'end'} {'as even as possible' if spread else 'even'}"),
    ]
    if _moved(worst) > moved:
        parts += [_text("; "), _clause(worst, f"{_name(worst, sound)} moves {_moved(worst):,}")]
    parts.append(_text("."))
    if len(case.joining) == 1:
        parts += _left_short(case, sound, spread)
    return parts


def _left_short(case: Case, sound: Sequence[Answer], spread: int) -> list[Part]:
    """Who leaves the newcomer with least, where not all are as even as the best."""
    uneven = [answer for answer in sound if _spread(answer) > spread]
    if not uneven:
        return []
    least, group = _by(uneven, lambda answer: _newcomer_gets(case, answer) or 0)[0]
    plain = {answer.board.assignor for answer in group}
    names = list(plain) if len(plain) == 1 and len(group) > 1 else _names(group, sound)
    text = listed(names)
    total = len(group[0].after)
    return [
        _text(" "),
        _clause(
            group[0],
            f"{text[:1].upper()}{text[1:]} {'leaves' if len(names) == 1 else 'leave'} "
            f"{case.names[-1]} with {counted(least, 'partition')} of {total:,}",
        ),
        _text("."),
    ]


def _of_throwing(answered: Sequence[Answer]) -> list[Part]:
    parts: list[Part] = []
    for answer in answered:
        if answer.measures is None:
            title = f"{answer.board.protocol} {answer.board.assignor}"
            parts += [_text(" Kafka throws in "), _clause(answer, title), _text(".")]
    return parts


def _newcomer_gets(case: Case, answer: Answer) -> int | None:
    if len(case.joining) != 1:
        return None
    return counts_of(case, answer.after)[len(case.members)]


def _name(answer: Answer, sound: Sequence[Answer]) -> str:
    """The assignor's name, with its protocol where the other of that name does otherwise."""
    board = answer.board
    same = [other for other in sound if other.board.assignor == board.assignor]
    if any((_moved(other), _spread(other)) != (_moved(answer), _spread(answer)) for other in same):
        return f"{board.protocol} {board.assignor}"
    return board.assignor


def _names(group: Sequence[Answer], sound: Sequence[Answer]) -> list[str]:
    return list(dict.fromkeys(_name(answer, sound) for answer in group))


def _by(answered: Sequence[Answer], figure: Callable[[Answer], int]) -> list[tuple[int, list[Answer]]]:
    """Answers by a figure, the least first."""
    groups: dict[int, list[Answer]] = {}
    for answer in answered:
        groups.setdefault(figure(answer), []).append(answer)
    return sorted(groups.items(), key=lambda group: group[0])


def _moved(answer: Answer) -> int:
    assert answer.measures is not None
    return answer.measures.moved


def _spread(answer: Answer) -> int:
    assert answer.measures is not None
    return answer.measures.most - answer.measures.least


def _paused(answer: Answer) -> int:
    assert answer.measures is not None
    return answer.measures.paused


def _text(text: str) -> Part:
    return {"text": text}


def _clause(answer: Answer, text: str) -> Part:
    return {"text": text, "board": BOARDS.index(answer.board)}
