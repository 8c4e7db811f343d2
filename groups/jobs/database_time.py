"""Times by the database's clock: the one clock that all processes of a team share, so that leases do not depend on their own."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.expressions import Combinable
from django.db.models.functions import Now


def from_now(seconds: float = 0.0) -> Combinable:
    """The time of the database, so many seconds later, for filters and updates."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())
