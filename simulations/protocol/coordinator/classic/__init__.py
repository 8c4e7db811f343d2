"""The coordinator of the classic protocol (JoinGroup, SyncGroup, Heartbeat, LeaveGroup), as a pure machine.

It has the shape of the consumer protocol's coordinator: an operation sees a ``Context`` and leaves an ``Outcome`` behind.
Two things are its own. Most of a classic group is in no record, so that it is kept in ``Memory.classic``. And
requests wait for each other: their answers come with a later operation's outcome (``parking``). Requests and answers
themselves are of ``simulations.protocol.messages``.

====================  =============================================================================
what                  where its rule is
====================  =============================================================================
answers that wait     ``parking``
the group in memory   ``group``
an operation          ``operation``, ``coordinator``
the join phase        ``join_requests``, ``join_phase``; static members in ``static_members``
the sync phase        ``syncing``
staying and leaving   ``sessions``
commits, deletion     ``commit_checks``, ``group``
a new coordinator     ``loading``
described and listed  ``describing``
records               ``records``
====================  =============================================================================
"""
