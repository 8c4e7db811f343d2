"""Walks groups with members of the classic protocol, alone or together with members of the consumer protocol.

A group that is converted has both coordinators and both clients in one world. Generations and epochs count as they are:
nothing but the script and the budgets begins a rebalance, so that they do not grow for ever.

===================  =================================================================================
module               what it is for
===================  =================================================================================
``plan``             what a scenario says: its script without times, its processes and their settings
``processes``        a process: its client of either protocol, what is on its way, the checker's account
``acting``           takes the steps of processes
``coordinators``     the coordinator: its shard, its timers, what it has parked, the checkers beside it
``entries``          tells the coordinator's steps as entries
``script``           what the lines of the script do
``timeouts``         which timers may run out, and whether that is chance
``judging``          what clients and coordinator together must not do
``beginning``        the first world
``kept``             steps as they are kept
``world``            what can happen next
``trace``            a way as a timeline
===================  =================================================================================
"""

from __future__ import annotations
