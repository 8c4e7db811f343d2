"""What each of the six assignors answers to a case, with its figures."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from simulations.laboratory.cases import NOBODY, Before, Case
from simulations.laboratory.specs import Owners, before_of, goal_of, spec_of
from simulations.protocol.assignors import ASSIGNORS
from simulations.protocol.assignors.explanation import Explanation, Step
from simulations.protocol.assignors.interface import AssignorError, GroupAssignment
from simulations.protocol.assignors.measures import Measures, RebalanceProtocol, measure, protocol_of


@dataclass(frozen=True, slots=True)
class Board:
    """One of the six: an assignor and the protocol that it runs under."""

    protocol: str
    assignor: str

    @property
    def rebalance(self) -> RebalanceProtocol:
        return protocol_of(self.protocol, self.assignor)


BOARDS: Final = (
    Board("classic", "range"),
    Board("classic", "roundrobin"),
    Board("classic", "sticky"),
    Board("classic", "cooperative-sticky"),
    Board("consumer", "range"),
    Board("consumer", "uniform"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """``before``, ``after`` and ``sent``: the place of each partition's owner, topic after topic, or ``NOBODY``.

    ``sent`` is what members are given at first, where that is not ``after``; ``error`` is there in the place of
    everything behind it where Kafka throws, and ``fault`` names the fault of Kafka's own.
    """

    board: Board
    before: tuple[int, ...]
    after: tuple[int, ...] = ()
    sent: tuple[int, ...] | None = None
    measures: Measures | None = None
    faults: tuple[str, ...] = ()
    error: str | None = None
    steps: tuple[Step, ...] = ()


def answers(case: Case, *, explain: bool = False) -> tuple[Answer, ...]:
    """All six, in the order of ``BOARDS``."""
    shared = None
    if case.before is not Before.OWN:
        # All six begin alike; where that fails, each answer contains the error.
        with suppress(AssignorError):
            shared = before_of(case, BOARDS[0].protocol, BOARDS[0].assignor)
    return tuple(answer(case, board, explain=explain, owned=shared) for board in BOARDS)


def answer(case: Case, board: Board, *, explain: bool = False, owned: Owners | None = None) -> Answer:
    """What one assignor answers; with ``explain`` the steps of its algorithm. ``owned`` if how it stood is known."""
    explanation = Explanation() if explain else None
    try:
        if owned is None:
            owned = before_of(case, board.protocol, board.assignor)
    except AssignorError as error:
        return Answer(board=board, before=(), error=f"before the event: {error}", faults=_faults(error))
    before = places_of(case, owned)
    spec = spec_of(case, board.protocol, owned)
    try:
        answered: GroupAssignment = ASSIGNORS[board.protocol][board.assignor]().assign(spec, explanation)
    except AssignorError as error:
        return Answer(board=board, before=before, error=str(error), faults=_faults(error))
    after, sent = places_of(case, goal_of(answered)), places_of(case, answered.members)
    return Answer(
        board=board,
        before=before,
        after=after,
        sent=None if sent == after else sent,
        measures=measure(spec, answered, board.rebalance),
        faults=answered.faults,
        steps=tuple(explanation.to_json()) if explanation is not None else (),
    )


def places_of(case: Case, owned: Owners) -> tuple[int, ...]:
    """The place of each partition's owner, topic after topic; of two owners the later."""
    starts: dict[str, int] = {}
    total = 0
    for name, size in zip(case.topic_names, case.sizes, strict=True):
        starts[name] = total
        total += size
    places = [NOBODY] * total
    for place, member_id in enumerate(case.ids):
        for topic, partitions in owned.get(member_id, {}).items():
            start = starts[topic]
            for partition in partitions:
                places[start + partition] = place
    return tuple(places)


def _faults(error: AssignorError) -> tuple[str, ...]:
    return (error.fault,) if error.fault else ()


def counts_of(case: Case, owners: Sequence[int]) -> list[int]:
    """How many partitions everybody has."""
    counts = [0] * len(case.everybody)
    for owner in owners:
        if owner != NOBODY:
            counts[owner] += 1
    return counts
