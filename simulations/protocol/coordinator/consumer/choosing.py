"""The member that was picked to compute, with what the coordinator has sent it: forgotten by a load, as all memory is.

Source: KIP-848, "Client Side Mode".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from simulations.protocol.assignors.client_side import ClientGroup, Offer


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """``notified``: an answer has asked it to compute, and its time runs. ``group`` is what it was handed to compute on.

    ``offers`` are what each member of that group listed for the assignor, ``tried`` those whose time ran out before.
    """

    member_id: str
    assignor: str
    notified: bool = False
    group: ClientGroup | None = None
    offers: Mapping[str, Offer] = field(default_factory=dict)
    tried: frozenset[str] = frozenset()
