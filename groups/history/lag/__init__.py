"""Lag over time: how far a group's committed offsets are behind the ends of their partitions, in records and in seconds.

* ``samples``: the offsets of one topic's partitions at the times when brokers were asked, in columns;
* ``partition``: the lag of one partition at given times, and why it is not known; and of several together;
* ``course``: who owned a partition, and what else is known of it over time;
* ``bounds``: how long it was not read at most, and how many records were read twice;
* ``cost``: what one rebalance cost; ``range``: what a stretch of time did.
"""
