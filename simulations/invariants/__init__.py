"""Checks runs from outside: reads entries alone, keeps a model of its own, and knows none of the machines'.

``Checker`` is shown every entry of a run and the state folded from it, and gives the invariants that the entry broke.
``docs/reference/invariants.md`` is the table of them, each with its source and its exceptions; here they have their names.

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

from simulations.invariants.authorized import AuthorizedChecker
from simulations.invariants.checker import INVARIANT_FAULT, Checker
from simulations.invariants.classic_clients import ClassicClientChecker, RunChecker
from simulations.invariants.classic_parts import ClassicLimits
from simulations.invariants.consumption import ConsumptionChecker
from simulations.invariants.invariants import INVARIANTS
from simulations.invariants.liveness import Bounds
from simulations.invariants.mixed import MixedChecker
from simulations.invariants.scripted import ScriptedChecker
from simulations.invariants.served import ServedChecker
from simulations.invariants.violations import Violation
