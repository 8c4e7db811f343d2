"""What differs where all members speak the consumer protocol: heartbeats carry everything, and every request is answered at once.

* A step of a process touches that process and the coordinator alone. So the steps of a process are kept as a whole for each
  state of both (``moves``), and looked up; a classic JoinGroup, which one step of somebody else may answer, cannot be.
* Epochs are only ever compared, so that each is replaced by its rank; a generation of a classic group is in the
  JoinGroups and in the user data of assignors, too, and counts as it is.
* With both, worlds are distinguished by their forms, and may be shared out among several processes (``owner``, ``untaken``).
* A static member that restarts is followed by its next process with the answer to its leave.

=================  ====================================================================
module             what it is for
=================  ====================================================================
``world``          the group at the start, its coordinator, forms, what can happen, what is asked of every world
``moves``          steps that a process takes, each taken once for the states that decide it
``processes``      a process, and the checker's account of its callbacks and commits
=================  ====================================================================
"""

from __future__ import annotations
