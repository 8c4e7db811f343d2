"""Static members that quarrel."""

from __future__ import annotations

from tests.incidents.stage import Stage

FENCES = 4


def twin_instances(stage: Stage) -> None:
    """Two classic clients read six partitions. pod-b is started with the group.instance.id of pod-a, which is fenced and ends; pod-a is started again, and so on, four times."""
    topic = stage.topic("orders", 6)
    seats = {"pod-a": "seat-1", "pod-b": "seat-1", "pod-c": "seat-2"}
    sitting, standing = stage.classic("pod-a", topic, group_instance_id=seats["pod-a"]).enter(), "pod-b"
    stage.classic("pod-c", topic, group_instance_id=seats["pod-c"]).enter()
    stage.begin()
    for _ in range(FENCES):
        coming = stage.classic(standing, topic, group_instance_id=seats[standing]).join()
        sitting.fenced()
        coming.wait_for_partitions()
        sitting, standing = coming, sitting.client_id
        stage.steady(8)
    stage.note(
        "twin_instance",
        f"pod-a and pod-b have one group.instance.id and fence each other {FENCES} times.",
        at_ms=stage.began_ms,
        duration_ms=stage.now_ms() - stage.began_ms,
        clients=["pod-a", "pod-b"],
        times=FENCES,
        tellable=True,
        detail="seat-1",
    )
    stage.steady()
