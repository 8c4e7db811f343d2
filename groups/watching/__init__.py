"""Watching live clusters: pull, fold, store, announce.

===============  ============================================================================================
module           what it is for
===============  ============================================================================================
``pulling``      one round after the other: lists, describes, offsets; nothing of Django
``positions``    the offsets of each round, kept over time
``live_group``   a group under way, whatever its source: the one place where timelines of live groups are written
``storing``      the source of polls: what a round saw becomes entries of timelines and rows of groups
``log_follower`` the log's partitions, each fetched from the broker that leads it, and how far that broker's clock is off
``followed``     one followed group under way: what waits of it, and what its row contains
``log_storing``  the source of records: what was read of the log becomes entries, stored with the place to go on from
``group_row``    the shape of a row of the groups list
``rows``         groups as lists show them
``row_facts``    the facts of a row, computed from a description or a frame
``live_source``  what a live timeline comes from, and how that is now
``checking``     what coordinators describe of followed groups: their rows, and what the log is compared with
``together``     groups that lose members at the same time
``job``          a cluster under a lease: pulls and stores until it is asked to stop
``alerts``       rules on what the groups do, sent to webhooks and to the browser
``registry``     clusters that are added, changed and removed; those that the environment names
``secrets``      client properties, encrypted where they are stored
``retention``    what is thinned and what is removed, by age and by size
===============  ============================================================================================

One process watches a cluster at a time. In the one-server default it is a child of the server
(``groups.watching.child``), which has its announcements passed on by its parent; a team may run ``manage.py watch``.
"""
