"""``/metrics`` for Prometheus: the table of metrics, where each figure comes from, and the view."""
