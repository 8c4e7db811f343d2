"""Walks every interleaving of a small scenario: an untimed world, its states distinguished by what decides their future.

``explore`` is the way in. What is walked, what is left out and why nothing is missed by it:
``docs/explanation/exploration.md``.

One walk serves all groups. What differs is in two rooms of one shape, ``consumer`` and ``classic``: each has the worlds, the
processes and the coordinator of its protocol, which implement ``Worlds``, ``Process``, ``Processes``, ``Coordinator`` and
``CoordinatorRuntime``.

=======================  ==============================================================
module                   what it is for
=======================  ==============================================================
``search``               breadth first, to the shortest way to a violation; ``partitioned_search`` by several processes
``world``                what can happen next in a world, and its parts, each once by what ``canonical`` states of it
``processes``            a client, what is on its way, and the checker's account of it
``coordinators``         the coordinator and its steps; ``coordinator_entries`` reports them
``plan``, ``script``     what a scenario states, and what its lines do
``state_layout``         a world as a tuple of numbers; ``actions`` its steps and budgets
``findings``, ``trace``  what was found, and the way there as a timeline
=======================  ==============================================================
"""

from simulations.proof.exploration.actions import Budgets
from simulations.proof.exploration.findings import STATES_MAX, Report, Violated
from simulations.proof.exploration.plan import NotExplorable, Plan
from simulations.proof.exploration.search import AnyWorlds, explore
