"""Why a wrong answer is wrong: what would have to be true for it, told from the frame of the answer's moment.

Each explanation is made of what the frame holds; where the simulator has none, the lesson's author writes one
(``because``), and ``checking`` asks for it.
"""

from __future__ import annotations

from simulations.lessons.reasons import Pieces, told
from simulations.lessons.reasons_members import MemberReasons
from simulations.lessons.reasons_partitions import PartitionReasons
from simulations.lessons.reasons_states import StateReasons


class Explainer(PartitionReasons, MemberReasons, StateReasons):
    """Explains answers to one reference at one moment."""


__all__ = ["Explainer", "Pieces", "told"]
