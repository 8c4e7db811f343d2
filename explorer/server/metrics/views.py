"""``/metrics``, which a Prometheus server asks with the token."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Any

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from explorer.push import hub
from explorer.server.metrics import stored
from explorer.server.metrics.request_times import request_times
from explorer.server.metrics.stored import Sample
from explorer.server.metrics.table import METRICS, TABLE
from groups.jobs.serving import QUEUES, why_not_served
from groups.one_line import one_line
from groups.places import VERSION

log = logging.getLogger(__name__)

NOT_INSTALLED = "Metrics need the package prometheus-client: install rebalance-explorer[metrics], and start the server again.\n"


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """All metrics, as OpenMetrics or Prometheus' text by the ``Accept`` header; 501 where the package is missing."""
    try:
        from prometheus_client.exposition import choose_encoder
    except ImportError:
        return HttpResponse(NOT_INSTALLED, status=501, content_type="text/plain")
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(Families(samples())), content_type=content_type)


def samples() -> list[Sample]:
    """Figures of this process, and those of the database while it answers."""
    found: list[Sample] = list(_of_the_process())
    try:
        found += stored.samples()
        found.append(("database_up", (), 1))
    except DatabaseError as error:
        connection.close()
        log.warning("Metrics of the database are left out: %s", one_line(error))
        found.append(("database_up", (), 0))
    return found


def _of_the_process() -> Iterator[Sample]:
    sockets = hub.process_counts()
    yield "build", (VERSION,), 1
    yield "sockets", (), sockets.sockets
    yield "socket_messages_dropped", (), sockets.dropped
    yield "socket_tails_repeated", (), sockets.repeated
    for queue in QUEUES:
        yield "queue_served", (queue,), float(not why_not_served(queue))


class Families:
    """Samples as a registry of prometheus-client has them: one family for each metric of the table."""

    def __init__(self, found: Iterable[Sample]) -> None:
        self.by_name: dict[str, list[Sample]] = {name: [] for name in METRICS}
        for sample in found:
            self.by_name[sample[0]].append(sample)

    def collect(self) -> Iterator[Any]:
        from prometheus_client import core

        kinds = {"counter": core.CounterMetricFamily, "gauge": core.GaugeMetricFamily}
        for metric in TABLE:
            if metric.kind == "histogram":
                times = core.HistogramMetricFamily(metric.full_name, metric.about, labels=metric.labels)
                for route_and_status, buckets, seconds in request_times.read():
                    times.add_metric(route_and_status, buckets, seconds)
                yield times
                continue
            family = kinds[metric.kind](metric.full_name, metric.about, labels=metric.labels)
            for _, labels, value in self.by_name[metric.name]:
                family.add_metric(labels, value)
            yield family
