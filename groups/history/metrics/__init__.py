"""Kafka's own metrics of a group, as they would stand at a moment of its timeline.

``table`` lists them, ``sampled`` computes how Kafka measures over windows, ``fold`` what an entry adds to
those of the coordinator and ``clients`` to theirs.
"""

from groups.history.metrics.fold import Metrics
