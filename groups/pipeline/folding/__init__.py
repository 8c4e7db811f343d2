"""Folding: the blocks of one group put together, folded, and stored in packs. In Spark's tasks, without Spark's packages.

``tasks`` is the way in; ``merging`` puts blocks in order; ``timelines`` folds one incarnation of a group, with ``notes``
between its records.
"""
