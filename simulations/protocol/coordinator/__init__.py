"""The group coordinator as a pure machine: a request goes in; an answer, records and timer commands come out.

Its memory is ``groups.history.state.group.State`` and changes by ``groups.history.replay.fold.replay`` of the records alone. Time
is an argument. ``shard`` is what everybody drives; ``kafka`` holds the rules of release 4.3.1, ``kip`` those of
KIP-848's text; what both share stands beside them:

====================================  ===============================================================
what                                  where its rule is
====================================  ===============================================================
what a heartbeat must be              ``validation``; ``kip.validation``
a heartbeat, step by step             ``kafka.heartbeat``; ``kip.heartbeat``, ``kip.joining``
joining, fencing, leaving             ``kafka.heartbeat``, ``kafka.leaving``; ``kip.joining``
static members                        ``static_members``
what bumps the group epoch            ``subscriptions``, ``image``; ``kip.metadata``
regular expressions                   ``expressions``, ``regexes``; ``kip.regexes``
the target assignment                 ``targets``; ``kip.computing``, ``kip.client_mode``
a member on its way to its target     ``reconciliation``
a new coordinator                     ``loading``; ``kip.metadata``
offsets                               ``commits``, ``fetching``, ``deletion``
a group described and listed          ``describing``
settings of broker and group          ``settings``, ``group_config``
requests, answers, records, timers    ``messages``, ``offset_messages``, ``client_messages``, ``records``, ``outcome``, ``timers``
the classic protocol                  ``classic``, for both semantics
groups that change their protocol     ``kafka.upgrading``, ``kafka.downgrading``, ``kafka.classic_members``
where the two semantics differ        ``differences``
====================================  ===============================================================
"""
