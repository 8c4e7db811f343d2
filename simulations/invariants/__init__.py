"""Checks runs from outside: reads entries alone, keeps a model of its own, and knows none of the machines'.

``Checker`` is shown every entry of a run and the state folded from it, and gives the invariants that the entry broke.
``INVARIANTS`` is the one table of them, from which ``docs/reference/invariants.md`` is made.

=========================  ============================================================================================
what is checked            where
=========================  ============================================================================================
a consumer group           ``checker``; ``coordinator`` its records, ``targets``, ``steps``, ``timers``, ``accepted_requests``, ``settings``
its clients                ``clients`` by ``rules``; ``commits`` what they commit; ``liveness`` whether it converges
a classic group            ``classic_groups``, ``classic_operations`` against ``classic_picture`` (``classic_membership``); ``classic_rounds`` what its generations give; ``classic_clients``
both protocols in one      ``mixed``; ``classic_members`` in a consumer group, ``classic_conversions``
what is known to be wrong  ``known_faults``: of releases, for which no run is blamed
=========================  ============================================================================================
"""

from __future__ import annotations

from simulations.invariants.authorized import ACL_INVARIANTS, AuthorizedChecker
from simulations.invariants.checker import INVARIANT_FAULT, Checker
from simulations.invariants.classic_clients import CLASSIC_INVARIANTS, ClassicClientChecker, RunChecker
from simulations.invariants.classic_members import MEMBER_INVARIANTS
from simulations.invariants.classic_operations import OPERATION_INVARIANTS
from simulations.invariants.classic_parts import ClassicLimits
from simulations.invariants.classic_rounds import ROUND_INVARIANTS
from simulations.invariants.consumption import CONSUMPTION_INVARIANTS, ConsumptionChecker
from simulations.invariants.invariants import INVARIANTS, Invariant
from simulations.invariants.liveness import Bounds
from simulations.invariants.mixed import MIXED_INVARIANTS, MixedChecker
from simulations.invariants.scripted import ScriptedChecker
from simulations.invariants.served import SERVED_INVARIANTS, ServedChecker
from simulations.invariants.violations import Violation
