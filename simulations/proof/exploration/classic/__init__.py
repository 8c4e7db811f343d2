"""What differs where members speak the classic protocol, alone or together with members of the consumer protocol.

A group that is converted has both coordinators and both clients in one world.

* A JoinGroup or a SyncGroup waits at the coordinator, so that one step may answer several processes: answers go by tickets
  (``world``), and a step is kept for each part that it touches.
* Generations and epochs count as they are: nothing but the script and the budgets begins a rebalance, so that they do not grow
  for ever.
* Which timers run out by themselves depends on who lives (``timeouts``). What two processes read at once is asked of steps
  (``judging``), since a generation ago both may have been right.

=================  ====================================================================
module             what it is for
=================  ====================================================================
``world``          the group at the start, what can happen, answers and whom they reach
``processes``      a process with a client of either protocol, and the checker's account of it
``coordinators``   the coordinator: what it has parked and not committed, and its checkers
``timeouts``       which timers may run out, and whether that is chance
``judging``        what clients and coordinator together must not do
=================  ====================================================================
"""

from __future__ import annotations
