"""Kafka's own metrics of a group, as they would stand at a moment of its timeline.

``table`` lists them, ``sampled`` computes how Kafka measures over windows, ``broker`` and ``clients`` what an entry adds to
them, ``fold`` puts them together.
"""

from groups.history.metrics.fold import Metrics
