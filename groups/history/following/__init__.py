"""The log of groups, followed while it grows: bytes of ``__consumer_offsets`` in, entries of timelines out.

Every record is seen, once. What compaction took, what was cut off, and what could not be read is said where it was;
records of a transaction hold when its marker comes. Both classes are plain values, stored with the entries that they
made, so that the next process that follows goes on exactly there.

================  ==========================================================================================
module            what it is for
================  ==========================================================================================
``partition``     one partition: batches in their order, holes, transactions, the place to go on from
``group``         one group: its records as units, with notes; where its life begins and ends
``commits``       the commits between two other entries, which become one entry
``topics``        topics that records mention, with what a cluster calls them
================  ==========================================================================================
"""
