"""The group coordinator as a pure machine: a request goes in; an answer, records and timer commands come out.

Its memory is ``groups.history.state.group.State`` and changes by ``groups.history.replay.fold.replay`` of the records alone. Time
is an argument. ``shard`` is what everybody drives. ``consumer`` has groups of the consumer protocol: ``released`` the rules
of Kafka's releases (``groups.releases``), ``proposal`` those of KIP-848's text, and what both share; ``classic`` has the classic protocol.

===================================  =================================================================================
what                                 where its rule is
===================================  =================================================================================
what a heartbeat must be             ``consumer.validation``; ``consumer.proposal.validation``
a heartbeat, step by step            ``consumer.released.heartbeat``; ``consumer.proposal.heartbeat``
joining, fencing, leaving            ``consumer.released.heartbeat``, ``consumer.released.leaving``; ``consumer.proposal.joining``
static members                       ``consumer.static_members``
what is a reason for a new epoch     ``consumer.subscriptions``, ``image``
the group epoch goes up              ``consumer.released.advancing``; ``consumer.proposal.metadata``
regular expressions                  ``consumer.expressions``, ``consumer.regexes``; ``consumer.proposal.metadata``
the target assignment                ``consumer.targets``; ``consumer.proposal.computing``, ``consumer.proposal.client_mode``
a member on its way to its target    ``consumer.reconciliation``
the order of its partitions          ``consumer.java_maps``
a new coordinator                    ``consumer.loading``; ``consumer.proposal.metadata``
offsets                              ``consumer.commits``, ``fetching``, ``deletion``
a group described and listed         ``describing``
settings of broker and group         ``settings``, ``group_config``
records, outcomes, timers            ``consumer.records``, ``consumer.outcome``, ``timers``
a group that changes its protocol    ``consumer.released.upgrading``, ``consumer.released.downgrading``
a classic member of such a group     ``consumer.released.classic_members``
===================================  =================================================================================

Requests and answers are ``simulations.protocol.messages``; where the two semantics differ, ``simulations.proof.differences``.
"""
