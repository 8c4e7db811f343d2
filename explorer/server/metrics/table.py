"""Every metric of ``/metrics``. The reference page ``docs/reference/prometheus.md`` is made from this table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

PREFIX: Final = "rebalance_explorer_"

GROUPS_MOST: Final = 200
"""Groups of one cluster that have metrics: with some 25 series a group, a cluster is 5,000 series at most, which Prometheus
stores without care. The groups with the gravest problem come first, then by name."""

BLOCKERS_MOST: Final = 3
"""Members of a group that are named for blocking others: those that blocked longest."""

BUCKETS: Final = (0.005, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0)
"""Upper bounds of the request times in seconds: a cached answer, a page, a large board, a child process, the proxy's limit."""

CAUSES: Final = (
    "formed", "joined", "left", "session_expired", "rebalance_timeout", "poll_overrun", "removed", "topics", "none", "other",
)  # fmt: skip
"""What a rebalance follows. ``none``: the finding *rebalances without a cause* has it; ``other``: no finding explains it."""

Kind = Literal["counter", "gauge", "histogram"]
Source = Literal["process", "database"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric, named without ``PREFIX``. ``source``: of the process that answers, or the same from every process."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    source: Source
    about: str

    @property
    def full_name(self) -> str:
        return PREFIX + self.name


_GROUP: Final = ("cluster", "group")

TABLE: Final = (
    Metric("build", "gauge", ("version",), "process", "1, with the version of the program."),
    Metric("request_seconds", "histogram", ("route", "status"), "process", "Seconds from a request's arrival to its response, by the address's pattern and the class of its status (2xx)."),
    Metric("sockets", "gauge", (), "process", "Open sockets."),
    Metric("socket_messages_dropped", "counter", (), "process", "Messages that a slow socket did not take: its browser fetches them over HTTP."),
    Metric("socket_tails_repeated", "counter", (), "process", "Tails that were sent again, from which a browser notices a lost message."),
    Metric("database_up", "gauge", (), "process", "1 if the database answers; else 0, and every metric of the database is absent."),
    Metric("queue_served", "gauge", ("queue",), "process", "1 if a worker takes what waits in the queue, as this process last saw it."),
    Metric("queue_waiting", "gauge", ("queue",), "database", "Runs and small imports, or larger imports and sweeps, that wait for a worker."),
    Metric("imports", "gauge", ("status",), "database", "Stored imports by status."),
    Metric("import_stage_seconds", "gauge", ("stage",), "database", "Of the last complete import: seconds of each stage, all tasks together."),
    Metric("import_stage_rate", "gauge", ("stage", "unit"), "database", "Of the last complete import: bytes, records, blocks or timelines a second in each stage; the stage `fold` is the rate of the fold."),
    Metric("webhook_messages", "gauge", ("state",), "database", "Messages of alerts in the log of webhooks, by state."),
    Metric("cluster_up", "gauge", ("cluster",), "database", "1 if the watcher of the cluster is connected to it."),
    Metric("cluster_look_age_seconds", "gauge", ("cluster",), "database", "Seconds since the watcher last looked at the cluster."),
    Metric("cluster_look_seconds", "gauge", ("cluster",), "database", "How long the last look took."),
    Metric("cluster_groups", "gauge", ("cluster",), "database", "Recorded groups of the cluster."),
    Metric("cluster_groups_left_out", "gauge", ("cluster",), "database", "Recorded groups without metrics of their own, beyond the bound."),
    Metric("group_members", "gauge", _GROUP, "database", "Members."),
    Metric("group_members_behind", "gauge", _GROUP, "database", "Members that are not at the assignment epoch."),
    Metric("group_epoch", "gauge", _GROUP, "database", "Group epoch, of the consumer protocol."),
    Metric("group_lag_records", "gauge", _GROUP, "database", "Records between the committed offsets and the ends of the partitions."),
    Metric("group_lag_seconds", "gauge", _GROUP, "database", "Age of the oldest record that the group has not read, interpolated between the ends of partitions; an hour at the least where it is older."),
    Metric("group_lost_records", "gauge", _GROUP, "database", "Records that were deleted before the group read them: the log starts behind its committed offset."),
    Metric("group_rebalancing", "gauge", _GROUP, "database", "1 while the group rebalances."),
    Metric("group_rebalances", "counter", _GROUP, "database", "Group epochs and generations of the timeline that grows now; begins again with the next timeline."),
    Metric("group_rebalances_by_cause", "gauge", (*_GROUP, "cause"), "database", "The same by what each follows, of the last 2,000."),
    Metric("group_unassigned_partition_seconds", "gauge", _GROUP, "database", "Seconds in which partitions were unassigned, summed over the longest intervals that the findings have."),
    Metric("group_not_read_partition_seconds", "gauge", _GROUP, "database", "Seconds in which partitions had an owner that committed nothing, against their rhythm (inferred)."),
    Metric("group_last_rebalance_seconds", "gauge", _GROUP, "database", "From the last epoch to the moment since which nothing changed; absent while the group changes."),
    Metric("group_blocked_seconds", "gauge", (*_GROUP, "blocked_by"), "database", "Seconds that others waited for this member to release partitions."),
)  # fmt: skip

METRICS: Final = {metric.name: metric for metric in TABLE}
