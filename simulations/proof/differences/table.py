"""What a difference is, and all of them together. The docs' tables are made of this (``manage.py compare_semantics``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from simulations.proof.differences.exchange import Case
from simulations.proof.differences.scenarios import ScenarioCase


class Seen(StrEnum):
    """Where a difference shows."""

    ANSWER = "answer"
    RECORD = "record"
    TIMING = "timing"
    STATE = "state"
    CLIENT = "client"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """``proposal`` is KIP-848's rule in its ``section``, ``released`` what Kafka's released coordinator does.

    ``reading`` is what ``kip`` follows where the proposal's text has two rules or none. Without a ``case``,
    ``unshown`` is why the coordinator alone cannot show it; ``scenario`` shows it then, or ``studies`` do, where anything can.
    """

    id: str
    topic: str
    section: str
    proposal: str
    released: str
    seen: Seen
    reading: str | None = None
    case: Case | None = None
    unshown: str | None = None
    scenario: ScenarioCase | None = None
    studies: tuple[str, ...] = ()
