"""What explanations are made of: the run, the frame of the answer, and words and values put together."""

from __future__ import annotations

from string import Formatter

from groups.history.frames.shapes import Frame
from simulations.lessons import frames
from simulations.lessons.playing import Run
from simulations.lessons.values import Members, Partitions, TextPart, Value, parts

Pieces = list[str | Value]


def reason_text(pieces: Pieces) -> list[TextPart]:
    """Words and values as the parts of a sentence."""
    return [
        part
        for piece in pieces
        for part in (
            [TextPart(kind="text", text=piece)] if isinstance(piece, str) else parts(piece, "explained")
        )
    ]


def sentence(words: str, *values: Value, **named: Value) -> Pieces:
    """``sentence("{} owns {it}.", member, it=owned)``: each brace is one of the values."""
    unnamed, pieces = iter(values), Pieces()
    for text, name, _, _ in Formatter().parse(words):
        pieces += [text] if text else []
        if name is not None:
            pieces.append(named[name] if name else next(unnamed))
    return pieces


def who(run: Run, member: str | None) -> Members:
    return Members((run.names.get(member, member),) if member else (), single=True)


class Reasons:
    """Answers to one reference at one moment. ``before`` is the frame in which the question was asked."""

    def __init__(self, run: Run, path: str, frame: Frame, before: Frame) -> None:
        self.run, self.frame, self.before = run, frame, before
        path = path.partition("@")[0]
        self.head, _, self.asked = path.rpartition(".")
        self.member = run.ids.get(self.head)
        self.held, self.aims = frames.holders(frame), frames.targets(frame)

    @property
    def everybody(self) -> Members:
        return Members(tuple(sorted(self.run.names.get(one, one) for one in self.frame["members"])))

    def _p(self, name: str) -> Partitions:
        return Partitions((name,))

    def _m(self, member: str | None) -> Members:
        return who(self.run, member)
