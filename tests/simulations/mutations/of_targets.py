"""Mistakes in targets and in the assignors that compute them."""

from __future__ import annotations

from typing import Final

from tests.simulations.mutations.mutation import mutation as _m

TARGETS: Final = "simulations/protocol/coordinator/consumer/targets.py"
UNIFORM: Final = "simulations/protocol/assignors/consumer/uniform.py"
UNIFORM_OTHERS: Final = "simulations/protocol/assignors/consumer/uniform_heterogeneous.py"
SHARING: Final = "simulations/protocol/assignors/sharing.py"

ASSIGNING: Final = (
    _m(
        "target-record-left-out",
        TARGETS,
        "return {t: frozenset(p) for t, p in left.items() if p} == {t: frozenset(p) for t, p in right.items() if p}",
        "return {t: len(list(p)) for t, p in left.items() if p} == {t: len(list(p)) for t, p in right.items() if p}",
        "a member's new target is not written if it has as many partitions as the old one",
    ),
    _m(
        "joiner-left-out",
        TARGETS,
        """        if joiner is not None:
            order.put(joiner)""",
        """        if joiner is not None and len(group.members) < 2:
            order.put(joiner)""",
        "a third member that joins is not in the target",
    ),
    _m(
        "uniform-quota-of-all",
        UNIFORM,
        "total = sum(spec.partitions(topic) for topic in subscribed)",
        "total = sum(spec.partitions(topic) for topic in spec.topics) - len(spec.members)",
        "the quota counts too few partitions",
    ),
    _m(
        "uniform-cut-is-kept",
        UNIFORM,
        "kept[topic] = partitions[:left]",
        "kept[topic] = partitions[: left + 1]",
        "a partition that is over the quota stays, and is given to another, too",
    ),
    _m(
        "uniform-cut-is-lost",
        UNIFORM,
        "free.append((topic, partitions[left:]))",
        "free.append((topic, partitions[left + 1 :]))",
        "a partition that is over the quota goes to nobody",
    ),
    _m(
        "uniform-hands-out-twice",
        UNIFORM,
        """            room -= len(taken)
            start += len(taken)
            if start == len(partitions):
                run, start = run + 1, 0
            if explain""",
        """            room -= len(taken)
            start += len(taken) - (start > 0)
            if start == len(partitions):
                run, start = run + 1, 0
            if explain""",
        "a free partition is handed out twice",
    ),
    _m(
        "uniform-fresh-one-less",
        UNIFORM,
        "shares += [{topic: range(first, first + room)} for first in range(start, end, room)]",
        "shares += [{topic: range(first, first + room - (first > 2))} for first in range(start, end, room)]",
        "of a new group's runs the last partitions go to nobody",
    ),
    _m(
        "uniform-leaves-first",
        UNIFORM_OTHERS,
        "free = [partition for partition, owner in enumerate(of_topic) if owner == NOBODY]",
        "free = [partition for partition, owner in enumerate(of_topic) if partition and owner == NOBODY]",
        "where subscriptions differ the first partition of a topic goes to nobody",
    ),
    _m(
        "range-drops-the-rest",
        SHARING,
        "size = least + (position < extra)",
        "size = least",
        "partitions beyond an equal share go to nobody",
    ),
    _m(
        "range-overlaps",
        SHARING,
        """        put(shares, place, topics, range(start, start + size))
        start += size
""",
        """        put(shares, place, topics, range(start, start + size))
        start += size - (position == 1 and size > 1)
""",
        "the third subscriber begins with the last partition of the second",
    ),
)
