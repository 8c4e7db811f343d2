"""Fork: a scenario that continues from a moment of a timeline, with other settings, faults and members.

* ``values``: a fork's edits, its rows of assumptions, what refuses it;
* ``edits``: a request's settings and faults, checked;
* ``continuing``: a simulated run's scenario with more lines behind a moment: until there the run stays the same, entry by entry;
* ``group_of_frame``: what a frame gives for a scenario (names, partitions, a classic group's start), also for rehearsals;
* ``rows``: where each value of a fork comes from;
* ``settings``: assignor, timeouts and releases of a fork;
* ``taking_over``: a frame as the state that a scenario starts from;
* ``forking``: which of the two a fork needs, and its result.
"""
