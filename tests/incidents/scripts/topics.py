"""Topics that grow, go and come."""

from __future__ import annotations

from tests.incidents.stage import Stage

from .deaths import workers

SETTLED_S = 25


def topic_grown(stage: Stage) -> None:
    """Three clients read six partitions. The topic grows to nine."""
    topic = stage.topic("orders", 6)
    workers(stage, topic, 3)
    stage.grow(topic, 9)
    stage.steady(SETTLED_S)


def topic_deleted(stage: Stage) -> None:
    """Two clients read topics orders and audit. Topic audit is deleted, and 20 s later made anew under the same name."""
    orders, audit = stage.topic("orders", 4), stage.topic("audit", 4)
    workers(stage, f"{orders},{audit}", 2)
    stage.delete(audit)
    stage.steady()
    stage.new_topic("audit", 4)
    stage.steady(SETTLED_S)


def regex_topic(stage: Stage) -> None:
    """Two clients subscribe by a regular expression, which one topic matches. A second topic is made that it matches, too."""
    stage.topic("orders", 4)
    workers(stage, f"regex:{stage.name}\\..*", 2)
    stage.new_topic("returns", 4)
    # A new topic is looked at when the expression is resolved again, at the earliest after ten seconds.
    stage.steady(2 * SETTLED_S)
