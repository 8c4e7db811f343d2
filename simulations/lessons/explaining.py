"""Why a wrong answer is wrong: what would have to be true for it, computed from the frame of the answer's moment.

Each explanation is made of what the frame holds; where the simulator has none, the lesson's author writes one
(``because``), and ``checking`` asks for it.
"""

from __future__ import annotations

from simulations.lessons.classic_facts import is_classic
from simulations.lessons.reasons import Pieces
from simulations.lessons.reasons_classic import ClassicReasons
from simulations.lessons.reasons_members import MemberReasons
from simulations.lessons.reasons_partitions import PartitionReasons
from simulations.lessons.reasons_states import StateReasons


class Explainer(ClassicReasons, PartitionReasons, MemberReasons, StateReasons):
    """Explains answers to one reference at one moment; a classic group has explanations of its own."""

    def partition(self, name: str, *, right: bool) -> Pieces | None:
        """Why a partition belongs to the answer (``right``), or does not."""
        if (found := self.by_clients(name)) is not None:
            return found
        if is_classic(self.frame):
            return self.classic_partition(name, right=right)
        return super().partition(name, right=right)

    def someone(self, name: str, *, right: bool) -> Pieces | None:
        """Why a member belongs to the answer, or does not."""
        found = self.classic_member(self.run.ids.get(name, "")) if is_classic(self.frame) else None
        return found if found is not None else super().someone(name, right=right)

    def number(self, given: int, answer: int) -> Pieces | None:
        """Why a number is not the answer."""
        found = self.classic_number(given, answer) if is_classic(self.frame) else None
        return found if found is not None else super().number(given, answer)

    def state(self, given: str) -> Pieces | None:
        """Why the group, or a member, is not in this state."""
        if is_classic(self.frame):
            return self.classic_state(given)
        return super().state(given)
